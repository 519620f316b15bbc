/* SPDX-License-Identifier: MIT
 *
 * Changes of packages: how severe the worst flag on the path is, and what its reason says, for a path,
 * the file before, and after.
 */
#define NPMLOCK(entries) "{'lockfileVersion':3,'packages':{'':{'name':'x'}," entries "}}"
#define NPMAT(key, name, url, version, hash, more) \
	"'node_modules/" key "':{'version':'" version "','resolved':'" url "/" name "/-/" name "-" version \
	".tgz','integrity':'sha512-" hash "'" more "}"
#define NPM_URL "https://registry.npmjs.org"
#define LEFT(version, hash) NPMLOCK(NPMAT("left", "left", NPM_URL, version, hash, ""))
/* npm: a lock file alone */
#define NPM "package-lock.json", LEFT("1.0.0", "a")
LOW(NPM, LEFT("1.1.0", "b"), "left 1.0.0 -> 1.1.0"),
LOW("package-lock.json", LEFT("1.0.0-rc.1", "a"), LEFT("1.0.0", "b"), "left 1.0.0-rc.1 -> 1.0.0"),
LOW("npm-shrinkwrap.json", LEFT("1.0.0", "a"), LEFT("1.1.0", "b"), "left 1.0.0 -> 1.1.0"),
LOW("package-lock.json", NPMLOCK(NPMAT("left", "left", NPM_URL, "1.0.0", "a", "") ","
    NPMAT("b/node_modules/left", "left", NPM_URL, "2.0.0", "b", "")),
    NPMLOCK(NPMAT("left", "left", NPM_URL, "2.1.0", "c", "") ","
	    NPMAT("b/node_modules/left", "left", NPM_URL, "1.0.0", "a", "")), "left 2.0.0 -> 2.1.0"),
HIGH("package-lock.json", LEFT("1.1.0", "a"), LEFT("1.0.0", "b"), "left falls from 1.1.0 to 1.0.0"),
HIGH("package-lock.json", LEFT("1.10.0", "a"), LEFT("1.9.9", "b"), "falls from 1.10.0"),
HIGH(NPM, LEFT("1.0.0", "b"), "left 1.0.0 has another checksum"),
HIGH(NPM, NPMLOCK(NPMAT("left", "left", "https://evil.example", "1.1.0", "b", "")), "https://evil.example/left"),
HIGH(NPM, NPMLOCK(NPMAT("left", "evil", NPM_URL, "1.1.0", "b", "")),
     "/evil/-/evil-{}.tgz"),
HIGH(NPM, NPMLOCK(NPMAT("left", "evil", NPM_URL, "1.1.0", "b", ",'name':'evil'")), "new: evil 1.1.0"),
HIGH("package-lock.json", NPMLOCK(NPMAT("left", "left", NPM_URL, "1.0.0", "a", "") ","
    NPMAT("right", "right", NPM_URL, "1.0.0", "b", "")),
     NPMLOCK(NPMAT("left", "right", NPM_URL, "1.0.0", "b", ",'name':'right'") ","
	     NPMAT("right", "right", NPM_URL, "1.0.0", "b", "")), "as left"),
HIGH(NPM, NPMLOCK(NPMAT("left", "left", NPM_URL, "1.1.0", "b", ",'hasInstallScript':true")),
     "left 1.1.0 runs a script when it is installed"),
HIGH(NPM, LEFT("1.0.0", "a','future':'x"), "packages.left.future"),
HIGH(NPM, NPMLOCK("'node_modules/left':{'version':'1.1.0','resolved':'" NPM_URL "/left/-/left-1.1.0.tgz'}"),
     "left 1.1.0 has no checksum any more"),
HIGH(NPM, NPMLOCK("'node_modules/left':{'resolved':'lib/left','link':true}"), "lib/left link=true"),
HIGH(NPM, "{", "in no form that is understood here"),
HIGH(NPM, NPMLOCK(NPMAT("left", "left", NPM_URL, "1.1.0", "b", "") "," NPMAT("left", "left", NPM_URL, "1.0.0", "a",
    "")),
     "in no form"),
HIGH("package-lock.json", "{'dependencies':{'a':{'version':'1.0.0','integrity':'x'}}}",
    "{'dependencies':{'a':{'version':'1.0.0','integrity':'x','dependencies':{'b':{"
    "'version':'1.0.0','integrity':'y'}}}}}", "new: b 1.0.0"),
/* lerna: its version, and nothing else */
LOW("lerna.json", "{'version':'1.0.0','npmClient':'npm'}", "{'version':'1.1.0','npmClient':'npm'}", "only version"),
HIGH("lerna.json", "{'version':'1.0.0','npmClient':'npm'}", "{'version':'1.1.0','npmClient':'./x'}", "npmClient"),
HIGH("lerna.json", "{'version':'1.0.0'}", "{'version':'git+https://example.com/x'}", "version"),
/* yarn */
#define YARN(url, version, hash) \
	"# yarn lockfile v1\n\n\nleft@^1.0.0, left@^1.1:\n  version \"" version "\"\n  resolved \"" url "-" version \
	".tgz#0123456789012345678901234567890123456789\"\n  integrity sha512-" hash "\n"
#define YARN_URL "https://registry.yarnpkg.com/left/-/left"
#define BERRY(key, to, version, hash) \
	"__metadata:\n  version: 8\n  cacheKey: " key "\n\n\"left@npm:^1.0.0\":\n  version: " version \
	"\n  resolution: \"" to "@npm:" version "\"\n  checksum: 10c0/" hash "\n  languageName: node\n" \
	"  linkType: hard\n"
#define YARN1 "yarn.lock", YARN(YARN_URL, "1.0.0", "a")
LOW(YARN1, YARN(YARN_URL, "1.1.0", "b"), "left 1.0.0 -> 1.1.0"),
HIGH(YARN1, YARN(YARN_URL, "1.0.0", "b"), "another checksum"),
HIGH(YARN1, YARN("https://evil.example/left", "1.1.0", "b"), "evil.example"),
HIGH(YARN1, YARN(YARN_URL, "1.0.0", "a") "  dependencies:\n    evil \"^1\"\n", "new: evil"),
HIGH(YARN1, YARN(YARN_URL, "1.0.0", "a") "\nright@npm:left@^1:\n  version \"1.0.0\"\n  resolved \""
    YARN_URL "-1.0.0.tgz\"\n", "as right"),
#define BERRY1 "yarn.lock", BERRY("10c0", "left", "1.0.0", "a")
LOW(BERRY1, BERRY("10c0", "left", "1.1.0", "b"), "left 1.0.0 -> 1.1.0"),
HIGH(BERRY1, BERRY("9", "left", "1.0.0", "a"), "__metadata.cacheKey"),
HIGH(BERRY1, BERRY("10c0", "evil", "1.0.0", "a"), "new: evil"),
HIGH(BERRY1, "a: &a\n  b: *a\n", "in no form"),
/* pnpm */
#define PNPM(version, resolution) \
	"lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      left:\n        specifier: ^1.0.0\n" \
	"        version: " version "\n\npackages:\n\n  left@" version ":\n    resolution: {" resolution "}\n" \
	"    engines: {node: '>=6'}\n\nsnapshots:\n\n  left@" version ": {}\n"
#define PNPM1 "pnpm-lock.yaml", PNPM("1.0.0", "integrity: sha512-a")
LOW(PNPM1, PNPM("1.1.0", "integrity: sha512-b"), "left 1.0.0 -> 1.1.0"),
HIGH(PNPM1, PNPM("1.0.0", "integrity: sha512-b"), "another checksum"),
HIGH(PNPM1, PNPM("1.1.0", "integrity: sha512-b, tarball: https://evil.example/left.tgz"),
    "https://evil.example/left.tgz"),
HIGH(PNPM1, PNPM("1.0.0", "integrity: sha512-a") "overrides:\n  left: 1.0.0\n", "overrides"),
HIGH(PNPM1, PNPM("1.0.0", "integrity: sha512-a") "  evil@1.0.0:\n    optional: true\n", "new: evil 1.0.0"),
/* package.json */
LOW("package.json", "{'version':'1.0.0','dependencies':{'left':'^1.0.0'}}",
    "{\n  'version': '1.0.1',\n  'dependencies': {'left': '^1.1.0'}\n}\n", "left ^1.0.0 -> ^1.1.0"),
#define JSON1 "package.json", "{'dependencies':{'left':'^1.0.0'}}"
HIGH(JSON1, "{'dependencies':{'left':'^1.0.0','evil':'^2.0.0'}}", "new: evil ^2.0.0"),
HIGH(JSON1, "{'dependencies':{'left':'^0.9.0'}}", "left falls from ^1.0.0 to ^0.9.0"),
HIGH(JSON1, "{'dependencies':{'left':'npm:evil@^1.0.0'}}", "new: evil ^1.0.0"),
HIGH(JSON1, "{'dependencies':{'left':'https://evil.example/left-1.0.0.tgz'}}", "https://evil.example/left-1.0.0.tgz"),
HIGH(JSON1, "{'dependencies':{'left':'latest'}}", "latest"),
HIGH("package.json", "{'dependencies':{'left':'x/left#v1.0.0'}}", "{'dependencies':{'left':'x/left#v1.1.0'}}",
    "x/left#v1.1.0"),
HIGH("package.json", "{'packageManager':'pnpm@9.0.0'}", "{'packageManager':'pnpm@9.1.0'}",
    "packageManager: \"pnpm@9.0.0\" -> \"pnpm@9.1.0\""),
HIGH("package.json", "{'scripts':{'test':'a'}}", "{'scripts':{'test':'b'}}", "scripts.test: \"a\" -> \"b\""),
/* Cargo */
#define CRATE(version, source, sum) \
	"version = 4\n\n[[package]]\nname = \"left\"\nversion = \"" version "\"\nsource = \"" source "\"\nc" \
	"hecksum = \"" \
	sum "\"\n"
#define CRATES "registry+https://github.com/rust-lang/crates.io-index"
#define CARGO "Cargo.lock", CRATE("1.0.0", CRATES, "a")
LOW(CARGO, CRATE("1.0.1", CRATES, "b"), "left 1.0.0 -> 1.0.1"),
HIGH(CARGO, CRATE("1.0.0", CRATES, "b"), "another checksum"),
HIGH(CARGO, CRATE("1.0.1", "registry+https://evil.example", "b"), "evil.example"),
HIGH(CARGO, CRATE("1.0.0", "git+https://example.com/left#0123456789012345678901234567890123456789", "a"), "git+https"),
HIGH(CARGO, "[[package]]\nname = \"left\"\nversion = \"1.0.0\"\n", "the registry"),
HIGH(CARGO, CRATE("1.0.0", CRATES, "a") "\n[[package]]\nname = \"evil\"\nversion = \"2.0.0\"\n", "new: evil 2.0.0"),
LOW("Cargo.toml", "[package]\nversion = \"1.0.0\"\n[target.'cfg(target_os = \"linux\")'.dependencies]\nleft = \"1\"\n",
    "[package]\nversion = \"1.0.1\"\n[target.'cfg(target_os = \"linux\")'.dependencies]\nleft = \"1.2\"\n",
    "left 1 -> 1.2"),
LOW("Cargo.toml", "[dependencies]\nx-core = { path = \"core\", version = \"0.1.0\" }\n",
    "[dependencies]\nx-core = { path = \"core\", version = \"0.2.0\" }\n", "x-core 0.1.0 -> 0.2.0"),
HIGH("Cargo.toml", "[dependencies]\nleft = \"1\"\n", "[dependencies]\nleft = { version = \"1\", package = \"evil\" }\n",
    "new: evil 1"),
HIGH("Cargo.toml", "[dependencies]\nleft = { git = \"https://example.com/x\", rev = \"1.0.0\" }\n",
    "[dependencies]\nleft = { git = \"https://example.com/x\", rev = \"1.0.1\" }\n", "rev=1.0.1"),
LOW("Cargo.toml", "[package]\nrust-version = \"1.70\"\n", "[package]\nrust-version = \"1.71\"\n", "version"),
/* Python */
#define UV(url, version, hash) \
	"version = 1\n\n[[package]]\nname = \"left-pad\"\nversion = \"" version "\"\nsource = { registry = " \
	"\"https://pypi.org/simple\" }\nsdist = { url = \"" url "-" version ".tar.gz\", hash = \"sha256:" hash \
	"\", size = 9 }\n"
#define UV_URL "https://files.pythonhosted.org/packages/ab/cd/left_pad"
#define POETRY(version, files) \
	"[[package]]\nname = \"left\"\nversion = \"" version "\"\nfiles = [" files "]\n\n[metadata]\nconten" \
	"t-hash = \"" \
	version "\"\n"
#define UV1 "uv.lock", UV(UV_URL, "1.0.0", "a")
LOW(UV1, UV(UV_URL, "1.1.0", "b"), "left-pad 1.0.0 -> 1.1.0"),
HIGH(UV1, UV("https://evil.example/left_pad", "1.1.0", "b"), "https://evil.example"),
HIGH(UV1, UV("https://files.pythonhosted.org/packages/ab/cd/evil", "1.1.0", "b"),
     "evil-{}.tar.gz"),
#define POETRY1 "poetry.lock", POETRY("1.0.0", "{file = \"left-1.0.0.whl\", hash = \"sha256:a\"}")
LOW(POETRY1, POETRY("1.0.0", "{file = \"left-1.0.0.tgz\", hash = \"sha256:b\"}, {file = \"left-1.0.0.whl\", h"
    "ash = \"sha256:a\"}"),
    "more checksums"),
HIGH(POETRY1, POETRY("1.0.0", "{file = \"left-1.0.0.whl\", hash = \"sha256:b\"}"), "another checksum"),
HIGH("poetry.lock", POETRY("1.0.0", ""), POETRY("1.1.0", "") "[package.source]\nurl = \"x\"\n",
    "left comes from url=x"),
LOW("pyproject.toml", "[project]\ndependencies = [\"left>=1.0\"]\n",
    "[project]\ndependencies = [\n \"Left>=1.1\",\n]\n", "left >=1.0 -> >=1.1"),
HIGH("pyproject.toml", "[build-system]\nrequires = [\"left\"]\n", "[build-system]\nrequires = [\"left\", \"evil\"]\n",
    "new: evil"),
HIGH("pyproject.toml", "[project]\ndependencies = [\"left>=1.0\"]\n",
    "[project]\ndependencies = [\"left @ https://evil.example/left-1.0.zip\"]\n", "evil.example"),
LOW("requirements.txt", "left==1.0.0 \\\n    --hash=sha256:a\n", "# now\nleft==1.1.0 \\\n    --hash=sha256:b\n",
    "left ==1.0.0 -> ==1.1.0"),
#define REQ1 "requirements.txt", "left==1.0.0\n"
HIGH(REQ1, "--extra-index-url https://evil.example\nleft==1.0.0\n", "+--extra-index-url https://evil.example"),
HIGH("requirements.txt", "left==1.0.0 --hash=sha256:a\n", "left==1.0.0\n", "left ==1.0.0 has no checksum any more"),
HIGH(REQ1, "left==1.0.0\nevil\n", "new: evil"),
HIGH(REQ1, "left==1.0.0\ngit+https://evil.example/x\n", "+git+https://evil.example/x"),
#define PDM(version, hash, more) \
	"[metadata]\ngroups = [\"default\"]\nstrategy = [\"inherit_metadata\"]\nlock_version = \"4.5.0\"\n" \
	"content_hash = \"sha256:" hash "\"\n\n[[package]]\nname = \"left\"\nversion = \"" version "\"\n" \
	"requires_python = \">=3.8\"\nsummary = \"x " hash "\"\ngroups = [\"default\"]\n" more \
	"files = [\n    {file = \"left-" version ".whl\", hash = \"sha256:" hash "\"},\n]\n"
#define PDM1 "pdm.lock", PDM("1.0.0", "a", "")
LOW(PDM1, PDM("1.1.0", "b", ""), "left 1.0.0 -> 1.1.0"),
HIGH(PDM1, PDM("1.0.0", "b", ""), "another checksum"),
HIGH(PDM1, PDM("1.1.0", "b", "git = \"https://example.com/left\"\n"),
     "https://example.com/left"),
/* deno */
#define DENO(version, hash, more) \
	"{'version':'4','specifiers':{'jsr:@x/left@1':'" version "'},'jsr':{'@x/left@" version \
	"':{'integrity':'" hash "','dependencies':['npm:a']}},'npm':{'a@1.0.0':{'integrity':" \
	"'sha512-a'}" more "}}"
#define DENO1 "deno.lock", DENO("1.0.0", "a", "")
LOW(DENO1, DENO("1.1.0", "b", ""), "@x/left 1.0.0 -> 1.1.0"),
HIGH(DENO1, DENO("1.0.0", "b", ""), "another checksum"),
HIGH(DENO1, DENO("1.0.0", "a", "},'remote':{'https://example.com/x.ts':'0'"), "https://example.com/x.ts"),
HIGH(DENO1, DENO("1.0.0", "a", "},'redirects':{'https://a.example/x':'https://b.example/x'"), "b.example"),
#define PIP1 "Pipfile.lock", "{'default':{'left':{'version':'==1.0','hashes':['sha256:a']}}}"
HIGH(PIP1, "{'default':{'left':{'version':'==1.0','hashes':['sha256:b']}}}", "another checksum"),
LOW(PIP1, "{'default':{'left':{'version':'==1.1','hashes':['sha256:b']}}}", "left ==1.0 -> ==1.1"),
/* Go */
LOW("go.mod", "module x\nrequire a v1.0.0\n", "module x\nrequire (\n\ta v1.1.0 // indirect\n)\n", "a v1.0.0 -> v1.1.0"),
HIGH("go.mod", "module x\nrequire a v1.0.0\n", "module x\nrequire a v1.0.0\nrequire b v1.0.0\n", "new: b v1.0.0"),
HIGH("go.mod", "module x\nrequire a v0.0.0-20230101000000-0123456789ab\n",
    "module x\nrequire a v0.0.0-20240101000000-abcdef012345\n", "v0.0.0-20240101000000-abcdef012345"),
LOW("go.sum", "a v1.0.0 h1:a=\n", "a v1.1.0 h1:b=\nb v1.0.0 h1:c=\n", "checksums"),
HIGH("go.sum", "a v1.0.0 h1:a=\n", "a v1.0.0 h1:b=\n", "another checksum"),
/* others */
#define GEMS(remote, version) \
	"GEM\n  remote: " remote "\n  specs:\n    left (" version ")\n      right (>= 1)\n    right (1.0.0" \
	")\n\nDEPENDENCIES\n" \
	"  left\n\nBUNDLED WITH\n   2.4.1\n"
LOW("Gemfile.lock", GEMS("https://rubygems.org/", "1.0.0"), GEMS("https://rubygems.org/",
    "1.1.0"), "left 1.0.0 -> 1.1.0"),
HIGH("Gemfile.lock", GEMS("https://rubygems.org/", "1.0.0"), GEMS("https://evil.example/", "1.1.0"), "evil.example"),
HIGH("composer.lock", "{'packages':[{'name':'a/a','version':'v1.0','dist':{'reference':'01'}}]}",
    "{'packages':[{'name':'a/a','version':'v1.1','dist':{'reference':'02'}}]}", "a/a comes from reference=02"),
HIGH("flake.lock", "{'nodes':{'nixpkgs':{'locked':{'rev':'01'}}},'root':'root','version':7}",
    "{'nodes':{'nixpkgs':{'locked':{'rev':'02'}}},'root':'root','version':7}", "nixpkgs comes from rev=02"),
#define FLAKE(rev, time) \
	"{'nodes':{'nixpkgs':{'locked':{'rev':'" rev "','lastModified':" time \
	",'narHash':'sha256-" rev "','owner':'NixOS'}}},'root':'root','version':7}"
#define FLAKE1 "flake.lock", FLAKE("01", "1700000000")
LOW(FLAKE1, FLAKE("02", "1700000001"), "nixpkgs 1700.000000 -> 1700.000001"),
HIGH(FLAKE1, FLAKE("02", "1700000000"), "nixpkgs"),
LOW("gradle/libs.versions.toml",
    "[versions]\njunit = \"5.10.0\"\n[libraries]\na = { module = \"x:a\", version.ref = \"junit\" }\n",
    "[versions]\njunit = \"5.10.1\"\n[libraries]\na = { module = \"x:a\", version.ref = \"junit\" }\n",
    "junit 5.10.0 -> 5.10.1"),
HIGH("gradle/libs.versions.toml", "[libraries]\na = \"x:a:1.0\"\n", "[libraries]\na = \"evil:a:1.1\"\n", "evil:a"),
#define IMPL "build.gradle", "dependencies { implementation 'x:a:1.0' }\n"
LOW(IMPL, "dependencies { implementation 'x:a:1.1' }\n", "x:a 1.0 -> 1.1"),
HIGH(IMPL, "dependencies { implementation 'y:a:1.1' }\n", "y:a:"),
HIGH("build.gradle", "url = 'https://example.com/1.0'\n", "url = 'https://example.com/1.1'\n",
    "https://example.com/1.1"),
HIGH("build.gradle", "image = 'postgres:1.0'\n", "image = 'postgres:1.1'\n", "postgres:1.1"),
HIGH("build.gradle", "run 'a'\nrun 'b'\n", "run 'b'\nrun 'a'\n", "order"),
LOW("gradle.properties", "VER_JUNIT=5.10.0\n", "VER_JUNIT=5.10.1\n", "5.10.0 -> 5.10.1"),
LOW("pom.xml", "<artifactId>left</artifactId>\n<version>1.0.0</version>\n",
    "<artifactId>left</artifactId>\n<version>1.1.0</version>\n", "left 1.0.0 -> 1.1.0"),
HIGH("pom.xml", "<argument>1.0.0</argument>\n", "<argument>1.1.0</argument>\n", "<argument>1.1.0"),
LOW("pubspec.lock", "packages:\n  left:\n    dependency: transitive\n    description:\n      name: l"
    "eft\n      sha256: a\n      url: \"https://pub.dev\"\n    source: hosted\n    version: \"1.0.0\"\n",
    "packages:\n  left:\n    dependency: transitive\n    description:\n      name: left\n      sha256: b\n"
    "      url: \"https://pub.dev\"\n    source: hosted\n    version: \"1.1.0\"\n", "left 1.0.0 -> 1.1.0"),
