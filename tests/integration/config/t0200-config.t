#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='configuration: layers, where each comes from, what a repository may'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"


# repo NAME [TEXT]: a repository with that file, entered
repo() {
	rm -f "$conf" &&
	test_enter "$1" &&
	echo a >a &&
	{ test $# = 1 || printf '%b' "$2" >.agentdev.yaml; } &&
	test_commit base
}
# value KEY, origin KEY: as --json says
value() {
	git agent config --json |
		python3 -c '
import json, sys
print(*[k["value"] for k in json.load(sys.stdin) if k["key"] == sys.argv[1]])' "$1"
}
origin() {
	git agent config --json | python3 -c '
import json, sys
for k in json.load(sys.stdin):
	if k["key"] == sys.argv[1]: print(k["origin"], k["file"], k["line"], k["column"])' "$1"
}

test_that 'without any file there are the defaults, which as a file give the same' '
	repo none &&
	git agent config >../out &&
	test "$(value dirty)" = carry &&
	test "$(origin dirty)" = "default None None None" &&
	test "$(value home)" = "$HOME/aihome" &&
	test "$(value state_dir)" = "$HOME/.local/state/git-agent" &&
	test "$(value limits.capture.file_size)" = 2GiB &&
	cp ../out "$conf" &&
	git agent config >../again &&
	test_cmp ../out ../again &&
	test "$(origin dirty)" = "user $conf 1 8" &&
	(cd / && XDG_STATE_HOME=/x HOME="$HOME/none" git agent config 2>/dev/null) | grep "^state_dir: /x/git-agent$"
'

test_that 'every key with its default and range is in the manual, limits in docs/limits.md' '
	repo docs &&
	git agent config --json >../json &&
	python3 - "$TEST_SRCDIR" <<-\EOF &&
	import json, sys
	man = open(sys.argv[1] + "/docs/man/agentdev.yaml.5").read()
	doc = open(sys.argv[1] + "/docs/limits.md").read()
	for k in json.load(open("../json")):
	    assert "Cm " + k["key"] in man or ", " + k["key"] in man, k["key"]
	    if k["key"].startswith("limits.capture."):
	        name = k["key"].split(".")[2]
	        assert "| `%s` | %s |" % (name, k["value"]) in doc, (name, k["value"])
	        if name not in ("pack_size", "objects", "object_size", "unpacked_size"):
	            after = man.split("Cm " + k["key"] + "\n")[1].split(".It")[0]
	            assert "Default " + k["value"] in after, name
	        assert k["value"] in man, name
	        text = doc.split("| `%s` |" % name)[1].split("|")
	        least, most = text[1].split(", ")
	        print(k["key"], least.strip(), most.strip(), file=open("../ranges", "a"))
	EOF
	while read -r key least most; do
		git agent -c $key=$least config >../out &&
		test_shows ": $most\$" git agent -c $key=$most config &&
		test_expect_code 129 git agent -c $key=0 config &&
		test_fails 129 "takes a .* from $least to $most, not" git agent -c "$key=9${most}" config || exit 1
	done <../ranges &&
	test "$(wc -l <../ranges)" = 14
'

test_that 'the JSON Schema has each key with its description, default, words and range' '
	repo schema &&
	git agent config --schema >../printed &&
	test_cmp "$TEST_SRCDIR/docs/agentdev.schema.json" ../printed &&
	git agent config --json >../json &&
	python3 - <<-\EOF
	import json, re, subprocess
	schema = json.load(open("../printed"))
	may = {"never": "; not in a repository\u0027s file", "stricter": "",
	       "tighten": "; looser in a repository\u0027s file it needs trust",
	       "trust": "; in a repository\u0027s file it needs trust"}
	leaves = {}
	def walk(group, prefix):
	    assert group["additionalProperties"] is False, prefix
	    for name, x in group["properties"].items():
	        if "properties" in x: walk(x, prefix + name + ".")
	        else: leaves[prefix + name] = x
	walk(schema, "")
	def alternatives(x):
	    x = schema["definitions"][x["$ref"].split("/")[-1]] if "$ref" in x else x
	    inner = x.get("anyOf", []) + x.get("allOf", [])
	    return [x] + [y for i in inner for y in alternatives(i)]
	def set_to(key, value):
	    cmd = ["git", "agent", "-c", "%s=%s" % (key, value), "config"]
	    return subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
	for k in json.load(open("../json")):
	    key, x = k["key"], leaves.pop(k["key"])
	    assert x["description"] == k["description"] + may[k["repository"]], key
	    # where sessions are depends on the environment
	    assert key == "state_dir" or x.get("default", "").replace("~", "") in k["value"], key
	    assert ("default" in x) == bool(k["value"]) or key == "state_dir", key
	    takes = set_to(key, "-")
	    words = [w for y in alternatives(x) for w in y.get("enum", []) if isinstance(w, str)]
	    choice = " or ".join([", ".join(words[:-1]), words[-1]]) if words else ""
	    assert not words or " takes " + choice + ", not" in takes or \
	        " takes " + ", ".join(words) + ", or a path" in takes, (key, takes)
	    for y in alternatives(x):
	        if y.get("type") == "integer":
	            for n in y["minimum"], y["maximum"]: assert " takes " not in set_to(key, n), (key, n)
	            for n in y["minimum"] - 1, y["maximum"] + 1: assert " takes " in set_to(key, n), (key, n)
	assert not leaves, leaves
	members = schema["definitions"]["agent"]["anyOf"][0]["propertyNames"]["enum"]
	assert members == re.findall(r"\u0027([a-z]+)\u0027", set_to("agents", "=").split("with")[1])
	EOF
'

test_that 'the file of the user is where XDG_CONFIG_HOME says, and each value has its line and column' '
	repo user &&
	test_settings "# mine\nlimits:\n  capture:\n    depth: 64\ndirty: ignore\n" &&
	test "$(value limits.capture.depth)" = 64 &&
	test "$(origin limits.capture.depth)" = "user $conf 4 12" &&
	git agent config --origin | grep "^dirty: ignore # $conf:5\$" &&
	mkdir -p ../xdg/git-agent &&
	mv "$conf" ../mine &&
	test "$(value dirty)" = carry &&
	ln -s ../../mine ../xdg/git-agent/config.yaml &&
	XDG_CONFIG_HOME=$HOME/xdg git agent config --origin |
		grep "^dirty: ignore # $HOME/xdg/git-agent/config.yaml:5\$" &&
	XDG_CONFIG_HOME=relative git agent config | grep "^dirty: carry\$"
'

test_that 'a mistake in the file of the user stops every command, with its place' '
	repo wrong &&
	test_settings "dirty: carry\nlimits:\n  capture:\n    dept: 5\n" &&
	for c in config list "start true" doctor "capture x" "drop x"; do
		git agent $c >../out 2>../err
		rc=$?
		case $c in start*) test $rc = 125 ;; *) test $rc = 128 ;; esac &&
		test ! -s ../out &&
		test "$(wc -l <../err)" = 2 &&
		grep "^git-agent: $conf:4:5: unknown key .limits.capture.dept.\$" ../err &&
		grep "^hint: did you mean .limits.capture.depth.?\$" ../err || exit 1
	done &&
	git agent --version &&
	git agent list -h
'

test_that 'a file of the user that is no YAML of ours, too long or no file is refused' '
	cd wrong &&
	test_settings "dirty: \033[31m\n" &&
	test_must_fail git agent list 2>../err &&
	! grep "$(printf "\033")" ../err &&
	test_settings "a: &x 1\nb: *x\n" &&
	test_says "config.yaml:1:4: anchors are not taken" test_must_fail git agent list &&
	head -c 300000 /dev/zero | tr "\0" "#" >"$conf" &&
	test_says "cannot read .*config.yaml" test_must_fail git agent list &&
	rm "$conf" &&
	mkfifo "$conf" &&
	test_says "is not a file" test_must_fail git agent list &&
	rm "$conf" &&
	ln -s nowhere "$conf" &&
	test_says "cannot read .*config.yaml.: No such file" test_must_fail git agent list
'

# ---- the repository's file

test_that 'the file of the repository is the one of the commit, not of working tree or index' '
	repo commit "dirty: ignore\n" &&
	test "$(origin dirty)" = "repository .agentdev.yaml 1 8" &&
	printf "dirty: refuse\n" >.agentdev.yaml &&
	test "$(value dirty)" = ignore &&
	git add . &&
	test "$(value dirty)" = ignore &&
	git commit -qm 2 &&
	test "$(value dirty)" = refuse &&
	git rm -q --cached .agentdev.yaml &&
	rm .agentdev.yaml &&
	test "$(value dirty)" = refuse &&
	printf nonsense >.agentdev.yaml &&
	test "$(value dirty)" = refuse
'

test_that 'PS-01: a key of the repository that would loosen is refused, and nothing starts' '
	n=0 &&
	for line in "home: /tmp/x" "state_dir: /tmp/x" "terminal_filter: off" "notify: /bin/true"; do
		n=$((n + 1)) &&
		(
			repo loose$n "$line\n" &&
			test_settings "dirty: ignore\n" &&
			test_fails 128 "^git-agent: .agentdev.yaml:1:[0-9]*: .* a repository can" git agent config &&
			grep "^hint: put it in your own file, .$conf., and out of the repository.s\$" ../err &&
			test_fails 125 "a repository can" git agent start -- touch x &&
			test -z "$(git for-each-ref refs/agent)"
		) || exit 1
	done &&
	for line in "limits: {capture: {depth: 129}}" "limits: {capture: {git_time: 2m}}"; do
		n=$((n + 1)) &&
		(
			repo loose$n "$line\n" &&
			test_settings "dirty: ignore\nlimits: {capture: {depth: 40}}\n" &&
			test_shows "depth: 40" git agent config &&
			grep "git_time: 1m" ../out &&
			test_fails 125 "^git-agent: .agentdev.yaml:1:[0-9]*: .* needs trust\$" \
				git agent start -- touch x </dev/null &&
			test -z "$(git for-each-ref refs/agent)"
		) || exit 1
	done
'

test_that 'a file of the repository that is no file, too long or wrong is refused, with its commit' '
	repo link &&
	ln -s /etc/passwd .agentdev.yaml &&
	test_commit link &&
	test_fails 125 "agentdev.yaml: it is not a file" git agent start -- true &&
	grep "^hint: this is the file of commit $(git rev-parse --short=10 HEAD), not of the working tree\$" ../err &&
	git rm -q .agentdev.yaml &&
	head -c 262145 /dev/zero | tr "\0" "#" >.agentdev.yaml &&
	test_commit long &&
	test_says "longer than 256 KiB" test_must_fail git agent config &&
	printf "dirty: [" >.agentdev.yaml &&
	git commit -qam bad &&
	rm .agentdev.yaml &&
	test_says "agentdev.yaml:2:1: " test_must_fail git agent config
'

test_that 'without a repository or a commit, the settings of the user count' '
	rm -f "$conf" &&
	test_settings "dirty: refuse\n" &&
	mkdir no &&
	cd no &&
	test "$(git agent config 2>../err | head -1)" = "dirty: refuse" &&
	grep "not in a git repository" ../err &&
	git init -q . &&
	printf "dirty: carry\n" >.agentdev.yaml &&
	test "$(git agent config 2>../err | head -1)" = "dirty: refuse" &&
	test ! -s ../err
'

# ---- what they do

require_sandbox

test_that 'dirty: set by the user, tightened by the repository, and by the command line' '
	repo dirty &&
	echo mine >a &&
	test_settings "dirty: refuse\n" &&
	test_expect_code 2 git agent start -- true 2>../err &&
	test_settings "dirty: ignore\n" &&
	test_inside "cat a >\$HOME/got" &&
	test "$(cat "$HOME/aihome/got")" = a &&
	git agent start -q --dirty carry -- sh -c "cat a >\$HOME/got" &&
	test "$(cat "$HOME/aihome/got")" = mine &&
	git agent -c dirty=carry start -q -- sh -c "cat a >\$HOME/got" &&
	test "$(cat "$HOME/aihome/got")" = mine &&
	printf "dirty: refuse\n" >.agentdev.yaml &&
	git add .agentdev.yaml &&
	git commit -qm refuse -- .agentdev.yaml &&
	test_expect_code 2 git agent start -- true &&
	git agent start -q --base HEAD -- true &&
	git agent start -q --dirty carry -- true
'

test_that 'home: a directory that others can read is refused, and not changed' '
	repo closed &&
	mkdir -m 755 ../open &&
	test_settings "home: ~/open\n" &&
	test_fails 125 "is not closed to others" git agent start -- true &&
	grep "chmod 0700 $HOME/open" ../err &&
	test "$(stat -c %a "$HOME/open")" = 755 &&
	chmod 700 ../open &&
	git agent start -q -- true
'

test_that 'home: another directory is shown, but none that holds your own, by whatever name' '
	repo home &&
	test_settings "home: ~/other/agents\n" &&
	test_inside "echo x >\$HOME/here" &&
	test "$(cat "$HOME/other/agents/here")" = x &&
	test "$(stat -c %a "$HOME/other/agents")" = 700 &&
	ln -s "$HOME" ../alias &&
	mkdir -p ../alias2 &&
	ln -s "$(dirname "$HOME")" ../alias2/up &&
	for h in "$HOME" "/$(echo "$HOME" | cut -d/ -f2)" "$HOME/alias" "$HOME/alias2/up" \
		"$HOME/alias2/up/$(basename "$HOME")"; do
		test_settings "home: \"$h\"\n" &&
		test_fails 125 "is or contains your own" git agent start -- true ||
			exit 1
	done &&
	mode=$(stat -c %a "$HOME") &&
	test "$mode" != 700
'

test_that 'state_dir: sessions are there, and it is refused where agents can write' '
	repo state &&
	test_settings "state_dir: ~/st ate/x\n" &&
	test_session s "echo s >s" &&
	test -d "$HOME/st ate/x/"*/sessions/s &&
	git agent list | grep "^s " &&
	rm "$conf" &&
	! git agent list | grep "^s " &&
	XDG_STATE_HOME=$HOME/elsewhere &&
	export XDG_STATE_HOME &&
	test_settings "state_dir: ~/st ate/x\n" &&
	git agent list | grep "^s " &&
	test ! -e ../elsewhere &&
	mkdir -p ../aihome/sub &&
	ln -s aihome/sub ../into &&
	for s in aihome aihome/inner into/x; do
		test_settings "state_dir: ~/$s\n" &&
		test_fails 125 "agents could write where sessions are kept" git agent start -- true ||
			exit 1
	done &&
	test_settings "state_dir: $(pwd)/state\n" &&
	test_fails 125 overlap git agent start -- true
'

test_done
