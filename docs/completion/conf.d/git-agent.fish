# SPDX-License-Identifier: MIT
#
# fish 3.6 knows which programs git has as commands, and does not complete their words: this says
# that ours are those of git-agent.
complete -c git -f -n '__fish_git_using_command agent' -a '(__fish_git_complete_custom_command agent)'
