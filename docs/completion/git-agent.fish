# SPDX-License-Identifier: MIT
#
# fish completion of `git agent`, through fish's own completion of git, which asks for that of
# git-agent. `git agent --complete` says what there is.

function __git_agent_complete
    set -l given (commandline -opc) (commandline -ct)
    set -e given[1]
    for line in (git agent --complete $given 2>/dev/null)
        switch $line
            case :file
                set -l option (string match -r -- '^--[a-z-]+=' $given[-1])
                if test -n "$option"
                    string replace -r -- '^' $option (__fish_complete_path (string replace -- $option '' $given[-1]))
                else
                    __fish_complete_path $given[-1]
                end
            case ':command *'
                set -l begin (math (string replace ':command ' '' $line) + 1)
                set -l words (string escape -- $given[$begin..-2]) $given[-1]
                complete -C (string join ' ' -- $words)
            case '*'
                echo $line
        end
    end
end

complete -c git-agent -f -a '(__git_agent_complete)'
