import type { Argument, Command, Option } from 'commander'
import { defaultOf } from '../command-group.ts'

/** What a shell proposes for a word: files, words of the gateway, fixed words, or nothing. */
export type WordKind = 'file' | ListKind | readonly string[] | null

/** Words that the program itself lists when the user presses Tab. */
export const LIST_KINDS = ['models', 'deployments', 'tasks', 'tiers', 'profiles'] as const
export type ListKind = (typeof LIST_KINDS)[number]

export interface CompletedOption {
  /** With its dashes, such as `--model`. */
  readonly long: string
  readonly short: string | null
  readonly summary: string
  /** Undefined for an option without a value. */
  readonly value: WordKind | undefined
}

/** A command with one sentence about it. */
export interface NamedCommand {
  readonly name: string
  readonly summary: string
}

/** A command with what may follow it. */
export interface CompletedCommand {
  /** Empty for the program itself, else such as `/keys/create`. */
  readonly path: string
  readonly commands: readonly NamedCommand[]
  readonly options: readonly CompletedOption[]
  readonly argument: WordKind
}

const HELP: CompletedOption = { long: '--help', short: '-h', summary: 'display help', value: undefined }

/** Describes the program for the completion of a shell. Operators' commands are known by name only. */
export function describeCommands(
  clients: readonly Command[],
  operators: readonly NamedCommand[],
): CompletedCommand[] {
  const own = clients.map((command) => ({ name: command.name(), summary: command.description() }))
  const pairs = operators.filter(({ name }) => name.includes(' '))
  const first = operators.map(({ name, summary }) => ({ name: name.split(' ')[0] ?? '', summary }))
  return [
    { path: '', commands: [...own, ...first], options: [HELP], argument: null },
    ...clients.flatMap((command) => describe(command, '')),
    ...pairs.map(({ name, summary }) => {
      const [parent = '', child = ''] = name.split(' ')
      return { path: `/${parent}`, commands: [{ name: child, summary }], options: [HELP], argument: null }
    }),
  ]
}

function describe(command: Command, parent: string): CompletedCommand[] {
  const path = `${parent}/${command.name()}`
  const children = command.commands.map((child) => ({ name: child.name(), summary: child.description() }))
  // The options of the command that is meant by default may follow the group at once.
  const own = [...command.options, ...(defaultOf(command)?.options ?? [])]
  const options = own.filter(({ hidden }) => !hidden).map(describeOption)
  return [
    {
      path,
      commands: children,
      options: [...options, HELP],
      argument: kindOfArgument(command.registeredArguments[0]),
    },
    ...command.commands.flatMap((child) => describe(child, path)),
  ]
}

function describeOption(option: Option): CompletedOption {
  const { long, short, description, required, optional, argChoices } = option
  const value = required || optional ? (argChoices ?? kindOfValue(option)) : undefined
  return { long: long ?? short ?? '', short: short ?? null, summary: description, value }
}

function kindOfValue({ long, flags }: Option): WordKind {
  if (long === '--model') return 'models'
  if (long === '--profile') return 'profiles'
  if (long === '--tier') return 'tiers'
  return /[<[](file|path|directory)\b/.test(flags) ? 'file' : null
}

function kindOfArgument(argument: Argument | undefined): WordKind {
  if (argument === undefined) return null
  if (argument.argChoices !== undefined) return argument.argChoices
  const name = argument.name()
  const list = LIST_KINDS.find((kind) => kind === `${name}s`)
  return list ?? (/^(file|path|image|directory)s?$/.test(name) ? 'file' : null)
}
