# SPDX-License-Identifier: MIT
#
# git-agent-security(7) of docs/security.md and docs/threats.md, in this order. What they are written
# in is little of Markdown: headings, paragraphs, bullets, tables whose first column is an id, `code`,
# **strong** and [links].
BEGIN {
	split("THE PROMISE;ATTACKS", section, ";")
	print ".Dd November 25, 2026\n.Dt GIT-AGENT-SECURITY 7\n.Os\n.Sh NAME\n.Nm git-agent-security"
	print ".Nd what is promised of a session, and what is not"
}

function inline(s,    out, m) {
	gsub(/\\/, "\\e", s)
	while (match(s, /\[[^]]*\]\([^)]*\)/)) {
		m = substr(s, RSTART, RLENGTH)
		sub(/^\[/, "", m)
		sub(/\]\(.*/, "", m)
		if (m == "threats.md")
			m = "ATTACKS"
		else if (m ~ /\.md$/)
			m = "docs/" m
		s = substr(s, 1, RSTART - 1) m substr(s, RSTART + RLENGTH)
	}
	while (match(s, /\*\*[^*]*\*\*/))
		s = substr(s, 1, RSTART - 1) "\\fB" substr(s, RSTART + 2, RLENGTH - 4) "\\fR" \
			substr(s, RSTART + RLENGTH)
	while (match(s, /`[^`]*`/))
		s = substr(s, 1, RSTART - 1) "\\fB" substr(s, RSTART + 1, RLENGTH - 2) "\\fR" \
			substr(s, RSTART + RLENGTH)
	return s
}
# A line of text: new sentences begin new lines, and none is a request.
function text(s) {
	s = inline(s)
	gsub(/[.] +/, ".\n", s)
	gsub(/\n[.']/, "\n\\\\\\&&", s)
	sub(/^[.']/, "\\\\\\&&", s)
	print s
}
function flush_text() {
	if (held != "")
		text(held)
	held = ""
}
function hold(s) { held = held == "" ? s : held " " s }
function end_list() {
	flush_text()
	if (list != "")
		print ".El"
	list = ""
}
function begin_list(kind) {
	flush_text()
	if (list == kind)
		return
	end_list()
	print ".Bl " kind
	list = kind
}

/^# / { end_list(); print ".Sh " section[++at]; begun = 0; next }
/^## / { end_list(); print ".Ss " substr($0, 4); begun = 0; next }
/^(Not p|P)romised:$/ { end_list(); print ".Ss " substr($0, 1, length($0) - 1); begun = 0; next }
/^\|[- |]*$/ || /^\| id / { next }
/^\| / {
	begin_list("-tag -width XX-00")
	split($0, cell, / *\| */)
	print ".It " cell[2]
	text(cell[3] ": " cell[4])
	next
}
/^\* / { begin_list("-bullet"); print ".It"; held = substr($0, 3); next }
/^$/ { flush_text(); paragraph = 1; next }
/^  / { sub(/^ +/, ""); hold($0); next }
{
	if (list != "") {
		end_list()
		print ".Pp"
	} else if (paragraph && held == "" && begun)
		print ".Pp"
	paragraph = 0
	begun = 1
	hold($0)
}
END {
	end_list()
	print ".Sh SEE ALSO\n.Xr git-agent 1 ,\n.Xr git-agent-doctor 1 ,\n.Xr git-agent-secrets 1 ,\n.Xr agentdev.yaml 5 ,"
	print ".Xr git-agent-tutorial 7"
}
