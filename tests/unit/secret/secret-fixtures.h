/* SPDX-License-Identifier: MIT
 *
 * For every rule about secrets: a file it is for, and one that looks like it and is not. What
 * looks like a key is put together here, so that no scanner stumbles over this file.
 */
#define B64 "MIIEpAIBAAKCAQEAx7Yk2vQhT0pRfZs9WmLd3cJb8NgEuXqKaV5HtI6oPw1rSyGz"
#define PEM(kind) "-----BEGIN " kind "PRIVATE " "KEY-----\n" B64 "\n" B64 "\n-----END " kind \
	"PRIVATE " "KEY-----\n"
#define SSH_OPEN "-----BEGIN OPENSSH PRIVATE " "KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9u" \
	"ZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQ\n-----END OPENSSH PRIVATE " "KEY-----\n"
#define SSH_LOCKED "-----BEGIN OPENSSH PRIVATE " "KEY-----\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIA" \
	"AAAGYmNyeXB0AAAAGAAAABC8yK\n-----END OPENSSH PRIVATE " "KEY-----\n"
#define PEM_LOCKED "-----BEGIN RSA PRIVATE " "KEY-----\nProc-Type: 4,ENCRYPTED\n" \
	"DEK-Info: AES-128-CBC,8A1B\n\n" B64 "\n-----END RSA PRIVATE " "KEY-----\n"
#define CERT "-----BEGIN CERTIFICATE-----\n" B64 "\n" B64 "\n-----END CERTIFICATE-----\n"
#define GITHUB "gh" "p_" "a8Kd0LmZq3RtYv7XwB2nC5pQ9sUeJ4hG6fTi"
#define AWS_ID "AK" "IA" "Q3EGWTPLX2NZRM7H"
#define STRIPE "sk" "_live_" "4eC39HqLyjWDarjtT1zdp7dc"
#define RANDOM "q8Zr4TnVx2LbYw9KsD7mPc3J"

#define NONE GA_TIER_NONE
#define NOTE GA_TIER_NOTE
#define WARN GA_TIER_WARN
#define BLOCK GA_TIER_BLOCK

/* `content` NULL: nothing of it counts */
static const struct {
	const char *rule, *path, *content;
	enum ga_tier tier; /* at which this rule fires; NONE: it does not */
} secret_fixtures[] = {
	{ "sec-configured", "mine/anything", "", BLOCK },
	{ "sec-configured", "other/anything", "", NONE },
	{ "sec-dotenv", ".env", "PORT=3000\nDB_PASSWORD=hunter22\n", BLOCK },
	{ "sec-dotenv", "app/.env.local", "STRIPE=" STRIPE "\n", BLOCK },
	{ "sec-dotenv", ".env", "LISTEN=host:3000\nMODE=fast\n", WARN },
	{ "sec-dotenv", ".env", "API_KEY=your-key-here\nTOKEN=\n", NOTE },
	{ "sec-dotenv", ".envrc", "export GITHUB_TOKEN=" GITHUB "\n", BLOCK },
	{ "sec-dotenv", ".env", "DISCORD_TOKEN=MTk4NjIyNDgz" "NDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7C\n", BLOCK },
	{ "sec-dotenv", ".env", "DB_PASSWORD=p&ssw0rd\n", BLOCK },
	{ "sec-dotenv", ".env", "DB_PASSWORD=hunter|[22\n", BLOCK },
	{ "sec-dotenv", ".env", "DB_PASSWORD=a,b;c)d\n", BLOCK },
	{ "sec-dotenv", ".env", "DB_PASSWORD=,\n", NOTE },
	{ "sec-dotenv", ".env.example", "DB_PASSWORD=hunter22\n", NONE },
	{ "sec-dotenv", ".env.example", "TOKEN=" GITHUB "\n", BLOCK },
	{ "sec-dotenv", "environment.ts", "DB_PASSWORD=hunter22\n", NONE },
	{ "sec-dotenv-keys", ".env.keys", "", BLOCK },
	{ "sec-dotenv-keys", ".env.key.ts", "", NONE },
	{ "sec-dotenv-vault", ".env.vault", "DOTENV_VAULT=\"" RANDOM "\"\n", NOTE },
	{ "sec-dotenv-vault", "env.vault.md", "", NONE },
	{ "sec-ssh-key", "keys/id_ed25519", SSH_OPEN, BLOCK },
	{ "sec-ssh-key", "keys/id_ed25519", SSH_LOCKED, WARN },
	{ "sec-ssh-key", "id_rsa.pub", "ssh-rsa AAAA me@host\n", NONE },
	{ "sec-ssh-key", ".ssh/id_rsa.pub", "ssh-rsa AAAA me@host\n", NOTE },
	{ "sec-ssh-key", "identity", "who are you\n", NONE },
	{ "sec-ssh-key", "id_rsa", "-----BEGIN RSA PRIVATE " "KEY-----\n...\n-----END RSA PRIVATE KEY-----\n", NONE },
	{ "sec-ssh-key", "mine.ppk", "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\n", BLOCK },
	{ "sec-ssh-key", "mine.ppk", "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: aes256-cbc\n", WARN },
	{ "sec-pem", "tls/server.key", PEM("RSA "), BLOCK },
	{ "sec-pem", "tls/server.key", PEM("ENCRYPTED "), WARN },
	{ "sec-pem", "tls/server.pem", PEM_LOCKED, WARN },
	{ "sec-pem", "tls/server.pem", CERT, NONE },
	{ "sec-pem", "tls/both.pem", CERT PEM("EC "), BLOCK },
	{ "sec-pem", "cipher.key", RANDOM RANDOM "\n", WARN },
	{ "sec-pem", "a.jwk", "{\"kty\":\"RSA\",\"n\":\"x\",\"d\":\"y\"}", BLOCK },
	{ "sec-pem", "a.jwk", "{\"kty\":\"RSA\",\"n\":\"x\"}", NONE },
	{ "sec-keystore", "release.p12", NULL, BLOCK },
	{ "sec-keystore", "android/debug.keystore", NULL, WARN },
	{ "sec-keystore", "p12.txt", NULL, NONE },
	{ "sec-vpn", "work.ovpn", "client\n<key>\n" PEM("") "</key>\n", BLOCK },
	{ "sec-vpn", "wg0.conf", "[Interface]\nPrivateKey = " RANDOM RANDOM "=\n", BLOCK },
	{ "sec-vpn", "work.ovpn", "client\nremote host 1194\n", NONE },
	{ "sec-pgp", "me.asc", "-----BEGIN PGP PRIVATE " "KEY BLOCK-----\nVersion: 1\n\n" B64 "\n" B64
	  "\n-----END PGP PRIVATE " "KEY BLOCK-----\n", BLOCK },
	{ "sec-pgp", "me.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n" B64 "\n", NONE },
	{ "sec-pgp", "pass/a.gpg", "\x85\x01\x0c binary of some length, as long as that of a message "
	  "to one recipient may well be", NOTE },
	{ "sec-pgp", "secret.gpg", "\x95\x01\x0c binary of some length, as long as that of a message "
	  "to one recipient may well be", BLOCK },
	{ "sec-age-key", "key.txt", "AGE-SECRET-" "KEY-1QZ8F3L7NDM2VXY4RTKJ6W9CSHG05PUAQZ8F3L7NDM2VXY4RTKJ6W9CSHGA\n",
	  BLOCK },
	{ "sec-age-key", "keys.txt", "up, down, left, right\n", NONE },
	{ "sec-gcp", "my-service-account.json", "{\"type\": \"service_account\", \"private_key\": "
	  "\"-----BEGIN PRIVATE " "KEY-----\\n" B64 "\\n" B64 "\\n-----END PRIVATE " "KEY-----\\n\"}",
	  BLOCK },
	{ "sec-gcp", "application_default_credentials.json", "{\"type\": \"authorized_user\", "
	  "\"refresh_token\": \"1//short\"}", BLOCK },
	{ "sec-gcp", "client_secret_1.json", "{\"installed\":{\"client_secret\":\"" RANDOM "\"}}", WARN },
	{ "sec-gcp", "gcp-regions.json", "{\"regions\": [\"europe-west1\"]}", NONE },
	{ "sec-gcp-client", "app/google-services.json", "{}", NOTE },
	{ "sec-gcp-client", "google-service.json", "{}", NONE },
	{ "sec-aws", ".aws/credentials", "[default]\naws_access_key_id = " AWS_ID
	  "\naws_secret_access_key = " RANDOM RANDOM "\n", BLOCK },
	{ "sec-aws", "new_accessKeys.csv", "Access key ID,Secret access key\n" AWS_ID ",x\n", BLOCK },
	{ "sec-aws", ".aws/config", "[default]\nregion = eu-west-1\n", NONE },
	{ "sec-aws", ".aws/credentials", "aws_access_key_id = AKIAIOSFODNN7EXAMPLE\n", NONE },
	{ "sec-cloud", "accessTokens.json", NULL, BLOCK },
	{ "sec-cloud", "accessToken.ts", NULL, NONE },
	{ "sec-cloud-directory", "clouds.yaml", "auth:\n  username: me\n  password: " RANDOM "\n", BLOCK },
	{ "sec-cloud-directory", ".vercel/project.json", "{\"projectId\":\"prj_1\"}", NONE },
	{ "sec-k8s", "kubeconfig", "kind: Config\nusers:\n- user:\n    token: " RANDOM "\n", BLOCK },
	{ "sec-k8s", "k8s/secret.yaml", "kind: Secret\ndata:\n  password: " RANDOM "\n", WARN },
	{ "sec-k8s", "k8s/secret.yaml", "kind: SealedSecret\nspec:\n  encryptedData:\n    token: "
	  RANDOM "\n", NONE },
	{ "sec-terraform-state", "terraform.tfstate", "{\"password\": \"" RANDOM "\"}", BLOCK },
	{ "sec-terraform-state", "terraform.tfstate", "{\"version\": 4}", NOTE },
	{ "sec-terraform-state", "tfstate.md", "", NONE },
	{ "sec-terraform", "terraform.tfvars", "db_password = \"" RANDOM "\"\n", BLOCK },
	{ "sec-terraform", "terraform.tfvars", "region = \"eu\"\n", NOTE },
	{ "sec-terraform", "variables.tf", "db_password = \"" RANDOM "\"\n", NONE },
	{ "sec-vault", "group_vars/all/vault.yml", "db_password: " RANDOM "\n", BLOCK },
	{ "sec-vault", "group_vars/all/vault.yml", "$ANSIBLE_VAULT;1.1;AES256\n6162\n", NOTE },
	{ "sec-vault", "Pulumi.dev.yaml", "config:\n  aws:region: eu-west-1\n", NONE },
	{ "sec-vault-password", ".vault_pass", NULL, BLOCK },
	{ "sec-vault-password", "vault_passage.md", NULL, NONE },
	{ "sec-pkg-creds", ".npmrc", "//registry.npmjs.org/:_authToken=" RANDOM RANDOM "\n", BLOCK },
	{ "sec-pkg-creds", ".npmrc", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n", NONE },
	{ "sec-pkg-creds", ".netrc", "machine example.org login me password " RANDOM "\n", BLOCK },
	{ "sec-pkg-creds", "settings.xml", "<server><password>" RANDOM "</password></server>", BLOCK },
	{ "sec-pkg-creds", "settings.xml", "<server><password>${env.PASS}</password></server>", NONE },
	{ "sec-pkg-creds", "pip.conf", "[global]\nindex-url = https://me:" RANDOM "@pypi.local/\n", BLOCK },
	{ "sec-pkg-creds", ".docker/config.json", "{\"auths\":{\"h\":{\"auth\":\"" RANDOM "\"}}}", BLOCK },
	{ "sec-vcs", ".git-credentials", "https://me:" RANDOM "@git.local\n", BLOCK },
	{ "sec-vcs", ".gitconfig", "[user]\n\tname = Me\n", NONE },
	{ "sec-rails", "config/master.key", "3f9a1c7be20d4586a1b2c3d4e5f60718\n", BLOCK },
	{ "sec-rails", "config/database.yml", "production:\n  password: hunter22\n", WARN },
	{ "sec-rails", "config/database.yml", "production:\n  password: <%= ENV['DB'] %>\n", NONE },
	{ "sec-rails-encrypted", "config/credentials.yml.enc", RANDOM "--" RANDOM "==", NOTE },
	{ "sec-rails-encrypted", "config/credentials.yml", NULL, NONE },
	{ "sec-frameworks", "appsettings.Production.json", "{\"Default\": \"Server=a;Password=" RANDOM
	  ";\"}", WARN },
	{ "sec-frameworks", "docker-compose.yml", "x:\n  POSTGRES_PASSWORD: hunter22\n", WARN },
	{ "sec-frameworks", "settings.py", "SECRET_KEY = os.environ['SECRET_KEY']\n", NONE },
	{ "sec-frameworks", "settings.py", "DB_PASSWORD = vault.read(name)\n", NONE },
	{ "sec-frameworks", "application.yml", "db:\n  password: hunter.two\n", WARN },
	{ "sec-frameworks", "settings.py", "STRIPE = '" STRIPE "'\n", BLOCK },
	{ "sec-passwords", ".htpasswd", NULL, WARN },
	{ "sec-passwords", "htpasswd.c", NULL, NONE },
	{ "sec-generic", "deploy/token.txt", RANDOM "\n", WARN },
	{ "sec-generic", "secrets/db_password", RANDOM "\n", WARN },
	{ "sec-generic", "src/tokenizer.c", "int next_token = advance(s);\n", NONE },
	{ "sec-generic", "token.ts", "const token = await getToken();\nlet t: Token = x;\n", NONE },
	{ "sec-generic", "src/token.go", "const key = \"" GITHUB "\"\n", BLOCK },
	{ "sec-agent-cli", ".codex/auth.json", "{\"OPENAI_API_KEY\": \"" RANDOM RANDOM "\"}", BLOCK },
	{ "sec-agent-cli", ".aider.conf.yml", "model: sonnet\n", NONE },
	{ "sec-service-cli", "kaggle.json", "{\"key\":\"" RANDOM "\",\"api_key\":\"" RANDOM "\"}", BLOCK },
	{ "sec-service-cli", "profiles.yml", "default:\n  target: dev\n", NONE },
	{ "sec-token-file", ".huggingface/token", NULL, BLOCK },
	{ "sec-token-file", "huggingface/tokens.py", NULL, NONE },
	{ "sec-wallet", "wallet.dat", NULL, BLOCK },
	{ "sec-wallet", "keystore/UTC--2024", "{\"crypto\":{\"ciphertext\":\"x\",\"kdf\":\"scrypt\"}}", WARN },
	{ "sec-wallet", "fixtures/id.json", "{\"id\": 7}", NONE },
	{ "sec-history", "app.har", NULL, WARN },
	{ "sec-history", "history.md", NULL, NONE },
	{ "sec-dump", "backup.sql", NULL, NOTE },
	{ "sec-dump", "sql.md", NULL, NONE },
	{ "sec-content", "sql.md", NULL, NONE },
	{ "sec-content", "src/a.c", "char *t = \"" GITHUB "\";", BLOCK },
	{ "sec-content", "tests/data/a.txt", GITHUB, WARN },
	{ "sec-content", "a.txt", "password = hunter22\nhttps://u:hunter22@h/\n", NONE },
	{ "sec-content", "google.py", "x = \"authorized_user\", \"refresh_token\"", NONE },
	{ "sec-content", "adc.json", "{\"type\": \"authorized_user\", \"refresh_token\": \"x\"}", BLOCK },
	{ "sec-content", "chat", "https://hooks.slack.com/services/T0AB3DEF/B0HI2KLM/" RANDOM, BLOCK },
	{ "sec-content", "chat", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXX", NONE },
};
