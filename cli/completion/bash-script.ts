import type { CompletedCommand, WordKind } from './command-tree.ts'

/** Returns the completion for bash, from version 3.2 on. */
export function writeBashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quote(path))
  return `# Completion of parkway for bash. Made by "parkway completion bash".

_parkway_list() {
  # Only words without special characters: they are put into the command line.
  local word
  while IFS= read -r word; do
    [[ $word == "$2"* ]] && COMPREPLY+=("$word")
  done < <("\${COMP_WORDS[0]}" completion --list "$1" 2>/dev/null </dev/null)
}

_parkway_words() {
  local word
  for word in $1; do
    [[ $word == "$2"* ]] && COMPREPLY+=("$word")
  done
}

_parkway_files() {
  compopt -o filenames 2>/dev/null
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$1")
}

_parkway_value() {
  case $1 in
    file) _parkway_files "$2" ;;
    @*) _parkway_list "\${1#@}" "$2" ;;
    *) _parkway_words "\${1//,/ }" "$2" ;;
  esac
}

_parkway() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} path='' index
  local commands='' options='' values='' argument='' entry
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path/\${COMP_WORDS[index]}" in
      ${paths.join(' | ')})
        path="$path/\${COMP_WORDS[index]}" ;;
    esac
  done
  case $path in
${commands.map(writeCase).join('\n')}
  esac
  for entry in $values; do
    [[ $before == "\${entry%%=*}" ]] || continue
    _parkway_value "\${entry#*=}" "$current"
    return
  done
  if [[ $current == -* ]]; then
    _parkway_words "$options" "$current"
  elif [[ -n $commands ]]; then
    _parkway_words "$commands" "$current"
  elif [[ -n $argument ]]; then
    _parkway_value "$argument" "$current"
  fi
}

complete -F _parkway parkway
`
}

function writeCase({ path, commands, options, argument }: CompletedCommand): string {
  const flags = options.flatMap(({ long, short }) => (short === null ? [long] : [long, short]))
  const values = options.flatMap(({ long, short, value }) =>
    value === undefined
      ? []
      : [long, short].flatMap((flag) => (flag === null ? [] : [`${flag}=${name(value)}`])),
  )
  const lines = [
    `commands=${quote(commands.map((command) => command.name).join(' '))}`,
    `options=${quote([...new Set(flags)].join(' '))}`,
    `values=${quote([...new Set(values)].join(' '))}`,
    `argument=${quote(name(argument))}`,
  ]
  return `    ${quote(path)})\n${lines.map((line) => `      ${line}`).join('\n')} ;;`
}

function name(kind: WordKind): string {
  if (kind === null) return ''
  if (typeof kind !== 'string') return kind.join(',')
  return kind === 'file' ? kind : `@${kind}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
