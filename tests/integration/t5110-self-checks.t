#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what must hold of flags from a session to its landing; docs/flags.md counts the checks'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

git init -q r &&
(
	cd r &&
	mkdir docs &&
	seq 1 40 >docs/a.md &&
	printf "%s\n" a: "	one" "" "" "" "" b: "	two" >Makefile &&
	echo x >.gitignore &&
	echo y >CODEOWNERS &&
	git add -A &&
	git commit -qm base
) || exit 1

test_expect_success 'self-check 3: work without flags lands without a review' '
	cd r &&
	git agent start -q --name plain -- sh -c "
		echo more >>docs/a.md
		echo new >docs/b.md" &&
	git agent review --json plain >../json &&
	grep "\"flags\": \[\]" ../json &&
	git agent land plain &&
	grep more docs/a.md
'

test_expect_success 'self-check 3: a file that is moved to where it runs is flagged there' '
	cd r &&
	git agent start -q --name moved -- sh -c "
		mkdir -p .github/workflows &&
		git mv docs/a.md .github/workflows/a.yml &&
		git commit -qm move" &&
	git agent review --json moved >../json &&
	python3 - ../json <<-\EOT
	import json, sys
	flags = [(f["id"], f["path"]) for f in json.load(open(sys.argv[1]))["flags"]]
	assert ("ci-github", ".github/workflows/a.yml") in flags and all(p != "docs/a.md" for _, p in flags), flags
	EOT
'

test_expect_success 'self-check 4: a verdict counts for one content only' '
	cd r &&
	git agent start -q --name make -- sh -c "sed -i s/one/three/ Makefile" &&
	test_expect_code 3 git agent land make &&
	git agent review --accept make Makefile &&
	git switch -q agent/make &&
	sed -i s/three/four/ Makefile &&
	git commit -qam other &&
	git switch -q - &&
	test_expect_code 3 git agent land make 2>../err &&
	cat ../err &&
	grep "1 high" ../err &&
	! grep four Makefile &&
	git agent review --accept make Makefile &&
	git agent land make &&
	grep four Makefile
'

test_expect_success 'self-check 5: flags of a landing are those of what the merge makes' '
	cd r &&
	git agent start -q --name merge -- sh -c "sed -i s/^9$/nine/ docs/a.md" &&
	git agent review --json merge >../json &&
	grep "\"flags\": \[\]" ../json &&
	git mv docs/a.md GNUmakefile &&
	git commit -qm mine &&
	test_expect_code 3 git agent land merge 2>../err &&
	grep "new flags where it lands" ../err &&
	! grep nine GNUmakefile &&
	git agent review --accept merge GNUmakefile &&
	git agent land merge &&
	grep nine GNUmakefile
'

test_expect_success 'own changes in an accepted file do not ask for another verdict' '
	cd r &&
	git agent start -q --name both -- sh -c "sed -i s/two/five/ Makefile" &&
	git agent review --accept both Makefile &&
	sed -i s/four/six/ Makefile &&
	git commit -qam mine &&
	git agent land both &&
	grep five Makefile &&
	grep six Makefile
'

test_expect_success 'self-check 6: a removed guard is flagged' '
	cd r &&
	git agent start -q --name guards -- sh -c "rm .gitignore CODEOWNERS" &&
	git agent review --json guards >../json &&
	python3 - ../json <<-\EOT
	import json, sys
	flags = {f["path"]: f["reason"] for f in json.load(open(sys.argv[1]))["flags"]}
	assert flags[".gitignore"].startswith("removed: ") and flags["CODEOWNERS"].startswith("removed: "), flags
	EOT
'

test_done
