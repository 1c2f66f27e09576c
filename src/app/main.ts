#!/usr/bin/env node
import type { Command } from './commands/command.ts'
import { OPERATOR_COMMANDS } from './operator-commands.ts'

const HELP_WORDS: ReadonlySet<string | undefined> = new Set(['help', '--help', '-h'])
const VERSION_WORDS: ReadonlySet<string | undefined> = new Set(['version', '--version', '-v'])

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const isHelp = HELP_WORDS.has(words[0])
  const rest = isHelp ? words.slice(1) : words
  if (isHelp && rest.length === 0) return print(describeProgram())
  if (VERSION_WORDS.has(rest[0])) return print(`parkway ${(await import('./version.ts')).VERSION}\n`)
  const name = Object.keys(OPERATOR_COMMANDS).find((known) => startsWithWords(rest, known.split(' ')))
  const known = name === undefined ? undefined : OPERATOR_COMMANDS[name]
  if (name === undefined || known === undefined) return refuse(await describeUnknown(rest))
  const command = await known.load()
  const own = rest.slice(name.split(' ').length)
  if (isHelp || own.includes('--help') || own.includes('-h'))
    return print(describeCommand(command, known.summary))
  try {
    return await command.run(own)
  } catch (error) {
    const { describeFailure, describeMisuse } = await import('./report/describe-failure.ts')
    const misuse = describeMisuse(error)
    if (misuse !== null) return refuse(`${misuse} See "parkway ${name} --help".`)
    process.stderr.write(`parkway: ${describeFailure(error)}\n`)
    return 1
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function refuse(sentence: string): number {
  process.stderr.write(`parkway: ${sentence}\n`)
  return 2
}

function startsWithWords(words: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((word, index) => words[index] === word)
}

async function describeUnknown(words: readonly string[]): Promise<string> {
  if (words.length === 0) return 'A command is missing. See "parkway --help".'
  const { nearestName } = await import('../kernel/nearest-name.ts')
  const names = Object.keys(OPERATOR_COMMANDS).filter((name) => OPERATOR_COMMANDS[name]?.summary !== null)
  const [first = '', second = ''] = words
  const meant =
    nearestName(`${first} ${second}`.trim(), names) ??
    nearestName(first, names) ??
    names.find((name) => name.split(' ').includes(first))
  const hint = meant === null || meant === undefined ? '' : ` Did you mean "parkway ${meant}"?`
  return `There is no command "${words.join(' ')}".${hint} See "parkway --help".`
}

function describeProgram(): string {
  const rows = Object.entries(OPERATOR_COMMANDS).flatMap(([name, { summary }]) =>
    summary === null ? [] : [[name, summary] as const],
  )
  return `A self-hosted gateway to AI models.

Usage:
  parkway COMMAND [OPTIONS]

Commands:
${table(rows)}

Options:
${table([
  ['COMMAND --help', 'What a command does and takes.'],
  ['--version', 'The version of this program.'],
])}
`
}

function describeCommand({ usage, options }: Command, summary: string | null): string {
  const rows = Object.entries(options)
  return `${summary ?? 'Used by the gateway itself.'}

Usage:
  parkway ${usage}
${rows.length === 0 ? '' : `\nOptions:\n${table(rows)}\n`}`
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([term]) => term.length))
  return rows.map(([term, meaning]) => `  ${term.padEnd(width)}   ${meaning}`).join('\n')
}
