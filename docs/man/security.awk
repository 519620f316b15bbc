# SPDX-License-Identifier: MIT
#
# git-agent-security(7) of docs/security.md, which uses little of Markdown: a heading, paragraphs, bullets,
# lines of code, `code`, **strong** and [links].
BEGIN {
	print ".Dd November 29, 2026\n.Dt GIT-AGENT-SECURITY 7\n.Os\n.Sh NAME\n.Nm git-agent-security"
	print ".Nd what is promised about a session, and what is not\n.Sh DESCRIPTION"
}

function inline(s,    m) {
	gsub(/\\/, "\\e", s)
	while (match(s, /\[[^]]*\]\([^)]*\)/)) {
		m = substr(s, RSTART, RLENGTH)
		sub(/^\[/, "", m)
		sub(/\]\(.*/, "", m)
		s = substr(s, 1, RSTART - 1) (m ~ /\.md$/ ? "docs/" m : m) substr(s, RSTART + RLENGTH)
	}
	while (match(s, /\*\*[^*]*\*\*/))
		s = substr(s, 1, RSTART - 1) "\\fB" substr(s, RSTART + 2, RLENGTH - 4) "\\fR" \
			substr(s, RSTART + RLENGTH)
	while (match(s, /`[^`]*`/))
		s = substr(s, 1, RSTART - 1) "\\fB" substr(s, RSTART + 1, RLENGTH - 2) "\\fR" \
			substr(s, RSTART + RLENGTH)
	return s
}
# A paragraph: new sentences begin new lines, and none is a request.
function flush_text() {
	held = inline(held)
	gsub(/[.] +/, ".\n", held)
	gsub(/\n[.']/, "\n\\\\\\&&", held)
	sub(/^[.']/, "\\\\\\&&", held)
	if (held != "")
		print held
	held = ""
}
function end_list() {
	flush_text()
	if (list)
		print ".El"
	list = 0
}

/^# / { next }
/^(Not p|P)romised:$/ { end_list(); print ".Ss " substr($0, 1, length($0) - 1); begun = 0; next }
/^    / { flush_text(); print ".Dl " substr($0, 5); next }
/^\* / {
	flush_text()
	print list ? ".It" : ".Bl -bullet\n.It"
	list = 1
	held = substr($0, 3)
	next
}
/^$/ { flush_text(); next }
/^  / { sub(/^ +/, ""); held = held " " $0; next }
{
	if (list) {
		end_list()
		print ".Pp"
	}
	held = held == "" ? $0 : held " " $0
}
END {
	end_list()
	print ".Sh SEE ALSO\n.Xr git-agent 1 ,\n.Xr git-agent-doctor 1 ,\n.Xr git-agent-secrets 1 ,\n.Xr agentdev.yaml 5 ,"
	print ".Xr git-agent-tutorial 7"
}
