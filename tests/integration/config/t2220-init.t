#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a file of settings to begin with, and the schema for editors'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

# uncomment: the suggestions as settings
uncomment() {
	sed -n "s/^#\([a-z ]\)/\1/p" "$1" | grep -v "^ [A-Z'a-z]" >"$2"
}
# tree NAME FILE...: a repository with these, entered; FILE may be NAME=TEXT
tree() {
	test_enter "$1" &&
	shift &&
	for f; do printf "${f#*=}" >"${f%%=*}" || return 1; done &&
	git add -A &&
	git commit -qm base --allow-empty
}

test_that 'init writes a file that sets nothing and needs no trust' '
	tree empty &&
	git agent config >../before &&
	test_says "edit it, and commit it" git agent init &&
	test_commit conf &&
	git agent config >../after &&
	test_cmp ../before ../after &&
	git agent trust </dev/null | grep "needs no trust"
'

test_that 'all suggestions of the file are valid settings' '
	tree all &&
	git agent init --print >../printed &&
	uncomment ../printed .agentdev.yaml &&
	grep "^dirty: refuse" .agentdev.yaml &&
	grep "^limits:" .agentdev.yaml &&
	grep "^mounts:" .agentdev.yaml &&
	test_commit all &&
	test_shows "read everything in ~/data" git agent trust -y &&
	git agent config | grep "^  memory: 8GiB" &&
	git agent config | grep "^    file_size: 50MiB"
'

test_that 'init replaces an existing file, or a link, only with --force' '
	tree there ".agentdev.yaml=dirty: ignore\n" &&
	test_fails 128 "is there already" git agent init &&
	test "$(cat .agentdev.yaml)" = "dirty: ignore" &&
	git agent init --force &&
	grep "dirty: refuse" .agentdev.yaml &&
	rm .agentdev.yaml &&
	echo mine >../elsewhere &&
	ln -s ../elsewhere .agentdev.yaml &&
	test_expect_code 128 git agent init &&
	git agent init --force &&
	test "$(cat ../elsewhere)" = mine &&
	test ! -L .agentdev.yaml
'

test_that 'init suggests settings by the files of the repository, and names these' '
	tree found package-lock.json= "package.json={\"scripts\": {\"test\": \"x\"}}" Cargo.toml= \
		"Makefile=all:\ncheck:\n\ttrue\n" "compose.yaml=services:\n  db:\n    image: postgres:16\n" &&
	test_shows "^# Suggested by: package-lock.json, package.json, Cargo.toml, Makefile, compose.yaml\$" \
		git agent init --print &&
	for k in "setup:npm ci" "finish:make check" "network:localhost:5432"; do
		grep -A9 "^#${k%%:*}:" ../out | grep "${k#*:}" || exit 1
	done &&
	mkfifo fifo &&
	ln -s fifo compose.yml &&
	rm Makefile &&
	mkfifo Makefile &&
	git agent init --print >../out &&
	! grep Makefile ../out
'

# suggested: the ports of hosts that init suggests for compose.yaml, a line each
suggested() {
	git agent init --print | sed -n 's/^#    - \(.*:.*\)/\1/p'
}
test_that 'ports of compose files are suggested at the address where they are published' '
	tree ports compose.yaml= &&
	while read -r port want; do
		cat >compose.yaml <<-END &&
		services:
		  db:
		    image: postgres:16
		    environment:
		      URL: postgres://u@db1:5432/x, postgres://127.0.0.1:5432/y
		    ports:
		      - $port
		END
		test_prints "$want" suggested || {
			test -z "$want" && test -z "$(suggested)"
		} || exit 1
	done <<-\END
	"127.0.0.1:5431:5432" localhost:5431
	127.0.0.1:5433:5432 localhost:5433
	"0.0.0.0:5434:5432/tcp" localhost:5434
	"192.168.7.1:5435:5432"
	5436:5432 localhost:5436
	"5432-5433:5432-5433" localhost:5432
	"[::1]:5432:5432" localhost:5432
	"127.0.0.1::5432" localhost:5432
	"999.0.0.1:5432:5432"
	END
'

# a python3 that comes before the system's may lack what that has
schema_python=$(command -v python3)
"$schema_python" -c "import jsonschema, yaml" 2>/dev/null || schema_python=/usr/bin/python3
test_lazy_prereq JSONSCHEMA '"$schema_python" -c "import jsonschema, yaml"'
test_that JSONSCHEMA 'the schema accepts valid settings and refuses wrong ones' '
	tree editors &&
	git agent config --schema >../schema.json &&
	git agent config >../values &&
	git agent init --print >../printed &&
	uncomment ../printed ../suggested &&
	"$schema_python" -W ignore - <<-\EOF
	import json, yaml, jsonschema
	schema = json.load(open("../schema.json"))
	jsonschema.Draft7Validator.check_schema(schema)
	v = jsonschema.Draft7Validator(schema)
	for f in ("../values", "../suggested"):
	    errors = list(v.iter_errors(yaml.safe_load(open(f))))
	    assert not errors, (f, errors)
	good = """dirty: ignore
	terminal_filter: "off"
	secrets: {add: x, allow: [a, b]}
	limits: {memory: 1GiB, tasks: 5, time: 90s, capture: {depth: 1}}
	limits:
	env: {set: {A: 1, B: x}}
	services: {db: run, web: {command: a, ready: b}}
	agents: {x: {flags: [a, b], keys: K, set: {A: 1}}, y: }"""
	bad = """dirt: ignore
	dirty: x
	dirty: [carry]
	limits: {capture: {depth: 513}}
	limits: {capture: {dept: 1}}
	mounts: {ro: [x]}
	env: {set: [A]}
	secrets: {add: {a: b}}
	limits: {time: 1d}
	services: {db: {ready: x}}
	agents: {x: {flag: a}}"""
	for t in good.split("\n"): assert v.is_valid(yaml.safe_load(t)), t
	for t in bad.split("\n"): assert not v.is_valid(yaml.safe_load(t)), t
	EOF
'

test_that 'the manual says of each key what a repository may set' '
	test_enter man &&
	git agent config --json >../json &&
	python3 - "$TEST_SRCDIR" <<-\EOF
	import json, re, sys
	man = open(sys.argv[1] + "/docs/man/agentdev.yaml.5").read()
	items = re.split(r"^\.It Cm ", man, flags=re.M)
	for k in json.load(open("../json")):
	    about = [i for i in items[1:] if k["key"] in re.split(r" , | ", i.split("\n")[0])]
	    assert about, k["key"]
	    # in its own words, or in those about several keys behind it
	    text = man[man.index("It Cm " + about[0].split("\n")[0]):][:4000]
	    if k["repository"] == "never": assert "User\u0027s file only" in text, k["key"]
	    if k["repository"] == "trust": assert "trust" in text, k["key"]
	EOF
'

test_done
