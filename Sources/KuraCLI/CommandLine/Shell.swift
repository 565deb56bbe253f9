// SPDX-License-Identifier: MIT

/// Names a shell that completes words by asking `kura completion words`, and has its script.
enum Shell: String, CaseIterable {
  case bash, zsh, fish

  /// The script that it reads.
  var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  /// Bash breaks words at `:` and `=` and replaces only what stands behind the last of them.
  private static let bashScript = #"""
    # bash completion for kura(1)
    _kura() {
      local line=${COMP_LINE:0:COMP_POINT} current head word
      local -a words found
      read -a words <<< "$line"
      [[ $line == *[[:blank:]] ]] && words+=('')
      current=${words[-1]}
      head=${current%"${current##*[:=]}"}
      mapfile -t found < <("$1" completion words -- "${words[@]:1}" 2> /dev/null)
      COMPREPLY=()
      case ${found[0]-} in
        :files | :command)
          compopt -o default 2> /dev/null
          [[ ${found[0]} == :command && ${words[-2]-} == -- ]] &&
            mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
        *)
          for word in "${found[@]%%$'\t'*}"; do
            printf -v word %q "${word#"$head"}"
            COMPREPLY+=("$word")
          done ;;
      esac
      [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2> /dev/null
      return 0
    }
    complete -F _kura kura

    """#

  private static let zshScript = #"""
    #compdef kura
    # zsh completion for kura(1)
    _kura() {
      local -a found plain shown
      local line
      found=("${(@f)$(kura completion words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" \
        2> /dev/null)}")
      case $found[1] in
        :files) _files; return ;;
        :command)
          local start=${words[(ie)--]}
          (( CURRENT -= start ))
          words=("${(@)words[start+1,-1]}")
          _normal
          return ;;
      esac
      for line in ${found:#}; do
        plain+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
      done
      (( $#plain )) && compadd -Q -l -d shown -- "${(@q)plain}"
    }
    if [[ $funcstack[1] == _kura ]]; then _kura "$@"; else compdef _kura kura; fi

    """#

  private static let fishScript = #"""
    # fish completion for kura(1)
    function __kura_words
      set -l current (commandline -ct)
      set -l words (commandline -opc)
      set -l found (kura completion words -- $words[2..] "$current" 2> /dev/null)
      switch "$found[1]"
        case :files
          __fish_complete_path "$current"
        case :command
          set -l start (contains -i -- -- $words)
          if test $start = (count $words)
            __fish_complete_command
          else
            __fish_complete_path "$current"
          end
        case '*'
          printf '%s\n' $found
      end
    end
    complete -c kura -f -a '(__kura_words)'

    """#
}
