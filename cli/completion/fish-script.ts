import type { CompletedCommand, CompletedOption, WordKind } from './command-tree.ts'

/** Returns the completion for fish, from version 3.0 on. */
export function writeFishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quote(path))
  return `# Completion of parkway for fish. Made by "parkway completion fish".

set -g __parkway_paths ${paths.join(' ')}

function __parkway_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    contains -- "$path/$word" $__parkway_paths; and set path "$path/$word"
  end
  test "$path" = "$argv[1]"
end

function __parkway_list
  set -l program (commandline -opc)[1]
  $program completion --list $argv[1] 2>/dev/null </dev/null
end

complete -c parkway -f
${commands.flatMap(writeLines).join('\n')}
`
}

function writeLines({ path, commands, options, argument }: CompletedCommand): string[] {
  // A second level of quotes: fish evaluates the condition as a command.
  const start = `complete -c parkway -n ${quote(`__parkway_at ${quote(path)}`)}`
  return [
    ...commands.map((command) => `${start} -a ${quote(command.name)} -d ${quote(command.summary)}`),
    ...options.map((option) => `${start} ${writeOption(option)}`),
    ...(argument === null ? [] : [`${start} ${writeValue(argument)}`]),
  ]
}

function writeOption({ long, short, summary, value }: CompletedOption): string {
  const flags = [`-l ${long.slice(2)}`, ...(short === null ? [] : [`-s ${short.slice(1)}`])]
  const takes = value === undefined ? [] : value === null ? ['-x'] : ['-r', writeValue(value)]
  return [...flags, ...takes, `-d ${quote(summary)}`].join(' ')
}

function writeValue(kind: Exclude<WordKind, null>): string {
  if (typeof kind !== 'string') return `-a ${quote(kind.join(' '))}`
  return kind === 'file' ? '-F' : `-a '(__parkway_list ${kind})'`
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
