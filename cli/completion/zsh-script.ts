import type { CompletedCommand, CompletedOption, WordKind } from './command-tree.ts'

/** Returns the completion for zsh, to be evaluated or saved as `_parkway` in a directory of `fpath`. */
export function writeZshScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quote(path))
  return `#compdef parkway
# Completion of parkway for zsh. Made by "parkway completion zsh".

_parkway_list() {
  local -a found
  found=("\${(@f)$("$words[1]" completion --list "$1" 2>/dev/null </dev/null)}")
  compadd -a found
}

_parkway_value() {
  case $1 in
    '') _message 'value' ;;
    file) _files ;;
    @*) _parkway_list "\${1#@}" ;;
    *) compadd -- \${(s:,:)1} ;;
  esac
}

_parkway() {
  local path_of='' argument='' index
  local -a commands options
  local -A values
  for ((index = 2; index < CURRENT; index++)); do
    case "$path_of/$words[index]" in
      ${paths.map((path) => `(${path})`).join(' | ')})
        path_of="$path_of/$words[index]" ;;
    esac
  done
  case $path_of in
${commands.map(writeCase).join('\n')}
  esac
  local before=$words[CURRENT-1]
  if (( \${+values[$before]} )); then
    _parkway_value "$values[$before]"
  elif [[ $words[CURRENT] == -* ]]; then
    _describe 'option' options
  elif (( $#commands )); then
    _describe 'command' commands
  else
    _parkway_value "$argument"
  fi
}

if [[ $funcstack[1] == _parkway ]]; then
  _parkway "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _parkway parkway
fi
`
}

function writeCase({ path, commands, options, argument }: CompletedCommand): string {
  const listed = commands.map((command) => quote(`${escape(command.name)}:${command.summary}`))
  const flags = options.flatMap((option) => flagsOf(option).map((flag) => quote(`${flag}:${option.summary}`)))
  const values = options.flatMap((option) =>
    option.value === undefined
      ? []
      : flagsOf(option).map((flag) => `${quote(flag)} ${quote(name(option.value ?? null))}`),
  )
  return `    ${quote(path)})
      commands=(${listed.join(' ')})
      options=(${flags.join(' ')})
      values=(${values.join(' ')})
      argument=${quote(name(argument))} ;;`
}

function flagsOf({ long, short }: CompletedOption): string[] {
  return short === null || short === long ? [long] : [long, short]
}

function name(kind: WordKind): string {
  if (kind === null) return ''
  if (typeof kind !== 'string') return kind.join(',')
  return kind === 'file' ? kind : `@${kind}`
}

function escape(text: string): string {
  return text.replaceAll(':', String.raw`\:`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
