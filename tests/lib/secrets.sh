# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
#
# A project with secrets, for tests that list them and tests that look for them in the sandbox.

# joined here, so that secret scanners find nothing in this file
T="gh""p_a8Kd0LmZq3RtYv7XwB2nC5pQ9sUeJ4hG6fTi"
K="gh""p_Zk3Vb7Nq1Ws9Xe5Dc8Rf2Tg6Yh4Uj0Mi1OpL"
# a password: nothing but the name of a file tells that it is one
W="Vb7Nq1Ws9Xe5Dc8Rf2"
pem() {
	printf -- '-----BEGIN RSA PRIVATE %s-----\n' KEY
	for i in 1 2 3; do
		echo MIIEpAIBAAKCAQEAx7Yk2vQhT0pRfZs9WmLd3cJb8NgEuXqKaV5HtI6oPw1rSyGz
	done
	printf -- '-----END RSA PRIVATE %s-----\n' KEY
}

# project DIR: a repository with secrets in every state, and with files that only look like some
project() {
	git init -q "$1" &&
	cd "$1" &&
	mkdir -p config src cache/deep/.git cache/node_modules/x &&
	printf ".env*\ncache/\n" >.gitignore &&
	echo a >a &&
	echo "production: {}" >config/database.yml &&
	printf "api_token: %s\n" "$K" >config/application.yml &&
	echo "TOKEN=your-token" >.env.example &&
	git add -f -A &&
	git commit -qm base &&
	echo "TOKEN=$T" >.env &&
	echo "LEVEL=debug,verbose" >.env.local &&
	cp .env cache/deep/.env.bak &&
	echo "TOKEN=$K" >cache/node_modules/x/.env &&
	echo kept >cache/deep/kept &&
	printf "[remote \"o\"]\n\turl = https://me:%s@example.org/x\n" "$T" >cache/deep/.git/config &&
	pem >server.key &&
	echo "token: $T" >>config/database.yml &&
	echo "# more" >>config/application.yml &&
	echo dump >new.sql
}

# in_objects REPO: is the secret $T in any object that git stores?
in_objects() {
	git -C "$1" cat-file --batch-all-objects --batch-check="%(objectname)" |
		git -C "$1" cat-file --batch |
		grep -a "$T"
}

# line PATH: the line about it in the list that ../out has
line() {
	grep -F "  $1: " ../out
}
