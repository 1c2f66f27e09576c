import type { Command } from 'commander'
import { OPERATOR_COMMANDS } from '../src/app/operator-commands.ts'
import { CLIENT_COMMANDS } from './client-commands.ts'
import { EXIT } from './exit-codes.ts'

const TERM_WIDTH = 16
const HELP_WORDS: ReadonlySet<string | undefined> = new Set(['help', '--help', '-h'])
const VERSION_WORDS: ReadonlySet<string | undefined> = new Set(['version', '--version', '-v'])

/** Runs a client command, or hands over to the operator's commands, which load the server's code. */
export async function runProgram(words: readonly string[]): Promise<number> {
  const isHelp = HELP_WORDS.has(words[0])
  const [name, ...rest] = isHelp ? words.slice(1) : words
  if (name === undefined) return isHelp ? print(await describeProgram()) : refuse('A command is missing.')
  const load = Object.hasOwn(CLIENT_COMMANDS, name) ? CLIENT_COMMANDS[name] : undefined
  if (load !== undefined && !isOperators(words, name, rest)) {
    const { runClient } = await import('./run-client.ts')
    return runClient(await load(namedOperators()), isHelp ? [...rest, '--help'] : rest, findNearest)
  }
  const isKnown = Object.keys(OPERATOR_COMMANDS).some((known) => known.split(' ')[0] === name)
  if (!isKnown && !VERSION_WORDS.has(name)) return refuse(await describeUnknown(name))
  await import('../src/app/main.ts')
  return Number(process.exitCode)
}

/** Whether words that begin like a client command are meant for the operator's. */
function isOperators(words: readonly string[], name: string, [second]: readonly string[]): boolean {
  return isOperatorsKey(words) || (name === 'config' && second === 'check')
}

/** The client has taken over the words `keys create` from the operator. These options tell that the operator's command is meant. */
function isOperatorsKey([first, second, ...options]: readonly string[]): boolean {
  return (
    first === 'keys' &&
    second === 'create' &&
    options.some((option) => /^--(account|config)(=|$)/.test(option))
  )
}

function print(text: string): number {
  process.stdout.write(text)
  return EXIT.ok
}

function refuse(sentence: string): number {
  process.stderr.write(`parkway: ${sentence} See "parkway --help".\n`)
  return EXIT.usage
}

async function describeUnknown(name: string): Promise<string> {
  const meant = await findNearest(name, [...Object.keys(CLIENT_COMMANDS), ...Object.keys(OPERATOR_COMMANDS)])
  return `There is no command "${name}".${meant === null ? '' : ` Did you mean "parkway ${meant}"?`}`
}

async function findNearest(word: string, names: readonly string[]): Promise<string | null> {
  const { nearestName } = await import('../src/kernel/nearest-name.ts')
  return nearestName(word, names)
}

/** The commands of the operator that people run. */
function namedOperators(): { name: string; summary: string }[] {
  return Object.entries(OPERATOR_COMMANDS).flatMap(([name, { summary }]) =>
    summary === null ? [] : [{ name, summary }],
  )
}

async function describeProgram(): Promise<string> {
  const clients = await Promise.all(Object.values(CLIENT_COMMANDS).map((load) => load()))
  return `A self-hosted gateway to AI models, and a client for it.

Usage:
  parkway COMMAND [OPTIONS]

Use a gateway:
${table(clients.map((command: Command) => [command.name(), command.description()]))}

Run a gateway:
${table(namedOperators().map(({ name, summary }) => [name, summary]))}

"parkway COMMAND --help" tells what a command takes.
`
}

function table(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([term, meaning]) => `  ${term.padEnd(TERM_WIDTH)} ${meaning}`).join('\n')
}
