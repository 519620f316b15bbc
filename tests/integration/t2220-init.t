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
	git init -q "$1" &&
	cd "$1" &&
	shift &&
	for f; do case $f in *=*) printf "${f#*=}" >"${f%%=*}" ;; *) : >"$f" ;; esac done &&
	git add -A &&
	git commit -qm base --allow-empty
}

test_expect_success 'what is written is a file that sets nothing, and as it stands needs no trust' '
	tree empty &&
	git agent config >../before &&
	git agent init 2>../err &&
	grep "edit it, and commit it" ../err &&
	git add -A &&
	git commit -qm conf &&
	git agent config >../after &&
	test_cmp ../before ../after &&
	git agent trust </dev/null | grep "needs no trust"
'

test_expect_success 'uncommented all of it is taken' '
	tree all &&
	git agent init --print >../printed &&
	uncomment ../printed .agentdev.yaml &&
	grep "^dirty: refuse" .agentdev.yaml &&
	grep "^limits:" .agentdev.yaml &&
	grep "^mounts:" .agentdev.yaml &&
	git add -A &&
	git commit -qm all &&
	git agent trust -y >../words &&
	grep "read everything in ~/data" ../words &&
	git agent config | grep "^  memory: 8GiB" &&
	git agent config | grep "^    file_size: 50MiB"
'

test_expect_success 'one that is there stays, a link too; --force replaces it' '
	tree there ".agentdev.yaml=dirty: ignore\n" &&
	test_expect_code 128 git agent init 2>../err &&
	grep "is there already" ../err &&
	test "$(cat .agentdev.yaml)" = "dirty: ignore" &&
	git agent init --force &&
	grep "dirty: refuse" .agentdev.yaml &&
	rm .agentdev.yaml &&
	echo mine >../elsewhere &&
	ln -s ../elsewhere .agentdev.yaml &&
	test_expect_code 128 git agent init &&
	git agent init --force &&
	test "$(cat ../elsewhere)" = mine &&
	test ! -L .agentdev.yaml &&
	mkdir sub &&
	cd sub &&
	git agent init -f &&
	test ! -e .agentdev.yaml
'

test_expect_success 'it says by which files it went' '
	tree found package-lock.json "package.json={\"scripts\": {\"test\": \"x\"}}" Cargo.toml "Makefile=all:\ncheck:\n\ttrue\n" "compose.yaml=services:\n  db:\n    image: postgres:16\n  c:\n    image: redis\n" &&
	git agent init --print >../out &&
	grep "^# Suggested by: package-lock.json, package.json, Cargo.toml, Makefile, compose.yaml\$" ../out &&
	for k in setup finish network; do
		git agent config | grep -q "^$k:" || continue
		case $k in setup) want="npm ci" ;; finish) want="make check" ;; *) want=localhost:5432 ;; esac
		grep -A9 "^#$k:" ../out | grep "$want" || exit 1
	done &&
	printf "services:\n  a:\n    image: mysql:8\n    ports: [\"3307:3306\"]\n  b:\n    ports:\n      - 127.0.0.1:3308:3306\n    image: \"mariadb\"\n  c:\n    image: redis:7\n    ports: [6379, \"16379:63790\", \"99999:6379\"]\n  d:\n    image: postgres:16\n" >compose.yaml &&
	git agent init --print | sed -n "s/^#    - localhost:/ /p" >../out &&
	printf " %s\n" 3307 3308 5432 >../want &&
	test_cmp ../want ../out &&
	mkfifo fifo &&
	ln -s fifo compose.yml &&
	rm Makefile &&
	mkfifo Makefile &&
	git agent init --print >../out &&
	! grep Makefile ../out
'

# suggests PORTS WORDS: for a server with these ports in a compose file, these words
suggests() {
	printf "services:\n  db:\n    image: postgres:16\n    environment:\n      URL: postgres://u@db1:5432/x, postgres://127.0.0.1:5432/y\n    ports:\n      - %s\n" "$1" >compose.yaml &&
	git agent init --print | sed -n "s/^#    - \(.*:.*\)/\1/p" | tr "\n" " " >../out &&
	printf "${2:+%s }" "$2" >../want &&
	test_cmp ../want ../out
}
test_expect_success 'a port that is published at an address is reached there, and its address is no port' '
	tree at-address compose.yaml && suggests "\"127.0.0.1:5432:5432\"" localhost:5432 && suggests 127.0.0.1:5433:5432 localhost:5433 && suggests "'"'"'0.0.0.0:5434:5432/tcp'"'"'" localhost:5434 && suggests "\"192.168.7.1:5435:5432\"" "" &&
	suggests "5436:5432 # here" localhost:5436 && suggests "\"5432-5433:5432-5433\"" localhost:5432 && suggests "\"[::1]:5432:5432\"" localhost:5432 && suggests "\"127.0.0.1::5432\"" localhost:5432 && suggests "\"999.0.0.1:5432:5432\"" "" &&
	python3 -c "print(\"image: postgres\\n\" * 9000 + \" \".join(str(i) + \":5432\" for i in range(20000, 30000)))" >compose.yaml && git agent init --print | grep -c "^#    - localhost:" >../out && echo 256 >../want && test_cmp ../want ../out
'

# a python3 that comes before the system's may lack what that has
schema_python=$(command -v python3)
"$schema_python" -c "import jsonschema, yaml" 2>/dev/null || schema_python=/usr/bin/python3
test_lazy_prereq JSONSCHEMA '"$schema_python" -c "import jsonschema, yaml"'
test_expect_success JSONSCHEMA 'the schema is one, takes what is taken, and refuses what is plainly wrong' '
	tree editors &&
	git agent config --schema >../schema.json &&
	git agent config >../values &&
	git agent init --print >../printed &&
	uncomment ../printed ../suggested &&
	"$schema_python" -W ignore - <<-\EOF &&
	import json, yaml, jsonschema
	schema = json.load(open("../schema.json"))
	jsonschema.Draft7Validator.check_schema(schema)
	v = jsonschema.Draft7Validator(schema)
	for f in ("../values", "../suggested"):
	    errors = list(v.iter_errors(yaml.safe_load(open(f))))
	    assert not errors, (f, errors)
	good = ["dirty: ignore", "record: false", "terminal_filter: off", "terminal_filter: \"off\"", "secrets: {add: x, allow: [a, b]}", "limits: {memory: 1GiB, tasks: 5, time: 90s, capture: {depth: 1}}", "limits:", "env: {set: {A: 1, B: x}}", "tools:", "services: [x]", "services: {db: run, web: {command: a, ready: b}}", "agents: {x: {flags: [a, b], keys: K, set: {A: 1}}, y: }", "risk: {add: x, hold: [a/]}"]
	bad = ["dirt: ignore", "dirty: x", "dirty: [carry]", "limits: {memory: x}", "limits: {capture: {depth: 0}}", "limits: {capture: {depth: 513}}", "limits: {capture: {dept: 1}}", "mounts: {ro: [x]}", "home: x", "env: {set: [A]}", "secrets: {add: {a: b}}", "limits: {time: 1d}", "services: {db: {ready: x}}", "services: {db: {command: a, x: b}}", "agents: {x: {flag: a}}", "agents: {x: y}"]
	for t in good: assert v.is_valid(yaml.safe_load(t)), t
	for t in bad: assert not v.is_valid(yaml.safe_load(t)), t
	keys = []
	def walk(p, prefix):
	    for k, x in p.items():
	        if "properties" in x: walk(x["properties"], prefix + k + ".")
	        else:
	            assert x["description"], k
	            keys.append(prefix + k)
	walk(schema["properties"], "")
	json.dump(sorted(keys), open("../keys", "w"))
	EOF
	git agent config --json |
		python3 -c "import json, sys; assert json.load(open(\"../keys\")) == sorted(k[\"key\"] for k in json.load(sys.stdin))"
'

test_expect_success 'which keys need trust, and what is left out for want of it, is in the JSON and behind the values' '
	tree left ".agentdev.yaml=secrets: {mode: warn, add: [x]}\n" &&
	git agent config --origin 2>../err |
		grep "^  mode: mask # default; .agentdev.yaml needs trust\$" &&
	grep "left out: .git agent trust. shows it" ../err &&
	git agent config --json 2>/dev/null >../json &&
	python3 - <<-\EOF &&
	import json
	k = {k["key"]: k for k in json.load(open("../json"))}
	assert k["secrets.mode"]["left_out"] and not k["secrets.add"]["left_out"] and k["secrets.add"]["origin"] == "repository"
	assert [k[n]["repository"] for n in ("home", "dirty", "secrets.mode", "mounts.ro")] == ["never", "stricter", "tighten", "trust"]
	EOF
	git agent trust -y &&
	git agent config --origin | grep "^  mode: warn # .agentdev.yaml:1\$"
'

test_expect_success 'the manual says of each key what a repository may' '
	git init -q man &&
	cd man &&
	git agent config --json >../json &&
	python3 - "$TEST_SRCDIR" <<-\EOF
	import json, re, sys
	man = open(sys.argv[1] + "/docs/man/agentdev.yaml.5").read()
	items = re.split(r"^\.It Cm ", man, flags=re.M)
	for k in json.load(open("../json")):
	    about = [i for i in items[1:] if k["key"] in re.split(r" , | ", i.split("\n")[0])]
	    assert about, k["key"]
	    text = " ".join(about[0].split())
	    if k["repository"] == "never": assert "User\u0027s file only" in man[man.index("It Cm " + about[0].split("\n")[0]):][:4000], k["key"]
	    # in its own words, or in those about several keys behind it
	    if k["repository"] == "trust": assert "trust" in man[man.index("It Cm " + about[0].split("\n")[0]):][:4000], k["key"]
	EOF
'

test_done
