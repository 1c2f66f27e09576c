import { Command, Option } from 'commander'
import { createGatewayClient, type GatewayClient } from './api/gateway-client.ts'
import { createDeprecationWarner } from './api/warn-of-deprecation.ts'
import type { OutputFilter } from './filter/start-filter.ts'
import { createOutput, type Output } from './output/terminal.ts'
import { findConnection, findProfileName, type Connection } from './profile/find-connection.ts'
import { profilePath, readProfiles } from './profile/profile-file.ts'

/** What every client command can use. */
export interface CommandContext {
  readonly output: Output
  /** Whether to print exactly the API's JSON, or what a filter makes of it. */
  readonly isJson: boolean
  /** The name given with `--profile`. */
  readonly profile: string | undefined
  /** The gateway of the profile. Throws if there is neither a profile nor a key. */
  readonly connect: () => GatewayClient
  /** The same for commands that run for hours: an access token that expires soon is replaced first. */
  readonly freshConnect: () => Promise<GatewayClient>
  /** The key of the profile, for commands that run for hours: an access token that expires soon is replaced first. */
  readonly freshKey: () => Promise<string>
  /** A gateway that is no profile yet. */
  readonly connectTo: (connection: Connection) => GatewayClient
  /** Prints one JSON document. */
  readonly printJson: (value: unknown) => void
  /** Prints a list as JSON lines. A filter gets it as one array. */
  readonly printJsonLines: (values: readonly unknown[]) => void
  /** Prints one of several things that come one after the other. */
  readonly printJsonLine: (value: unknown) => void
}

/** Rates are per minute, so that longer waits mean that other clients take everything. */
const LIMIT_WAIT_MS_MAX = 10 * 60_000

/** Runs a command with its arguments and options as commander parsed them. */
type Act<Options> = (context: CommandContext, options: Options, ...words: string[]) => Promise<void>

interface ClientCommand<Options> {
  readonly name: string
  readonly summary: string
  /** A command line that works. */
  readonly example: string
  /** Adds the arguments and options of the command. */
  readonly define?: (command: Command) => Command
  readonly act: Act<Options>
}

/** Creates a command with the options that all of them have. */
export function clientCommand<Options extends object = object>(definition: ClientCommand<Options>): Command {
  const { name, summary, example, define, act } = definition
  const command = new Command(name)
    .description(summary)
    .option('--json', 'print the JSON of the API')
    .option('--jq <filter>', 'filter the JSON with jq')
    .addOption(new Option('--template <text>', 'print the JSON by a template').conflicts('jq'))
    .option('--profile <name>', 'use another profile than the current one')
    .option('--project <id>', 'refuse to work in another project than this one')
    .option('--wait', 'wait for rate limits instead of ending with exit code 6')
    .addHelpText('after', `\nExample:\n  ${example}`)
  const defined = define === undefined ? command : define(command)
  return defined.action(async (...passed: unknown[]) => {
    // commander passes the arguments, the options and the command itself.
    const words = passed.slice(0, -2).flat() as string[]
    if (!WITHOUT_FRESH_TOKEN.has(name)) await freshen(command.opts<SharedOptions>())
    const output = createOutput(process)
    const filter = await openFilter(command.opts(), output)
    const context = createContext(command.opts(), output, filter)
    try {
      const given = { words, options: command.opts<Options>() }
      if (words.length === 0 && Object.keys(given.options).length === 0) {
        await act(context, given.options)
      } else {
        const { resolveWords } = await import('./short-ids/resolve-words.ts')
        const whole = await resolveWords(command, given, context.connect)
        await act(context, whole.options, ...(whole.words as string[]))
      }
    } catch (error) {
      // Some commands print first what they then fail for. The failure of the command tells more than one of the filter.
      await filter?.end().catch(() => {})
      throw error
    }
    await filter?.end()
  })
}

interface SharedOptions {
  readonly json?: boolean
  readonly jq?: string
  readonly template?: string
  readonly profile?: string
  readonly project?: string
  readonly wait?: boolean
}

/** Commands that change profiles themselves, or need none. */
const WITHOUT_FRESH_TOKEN: ReadonlySet<string> = new Set(['login', 'logout', 'profiles', 'completion'])

/** Replaces an access token that expires soon, so that a command can use what the profile has. */
async function freshen({ profile }: SharedOptions): Promise<void> {
  const path = profilePath(process.env)
  const profiles = readProfiles(path)
  const name = findProfileName(profile, process.env, profiles)
  if (name === null || profiles.profiles[name]?.grant === undefined) return
  const { freshenProfile } = await import('./sign-in/freshen-profile.ts')
  await freshenProfile(path, name)
}

/** Starts what the JSON goes through before it is printed, if anything. */
async function openFilter({ jq, template }: SharedOptions, output: Output): Promise<OutputFilter | null> {
  const text = jq ?? template
  if (text === undefined) return null
  const { startFilter } = await import('./filter/start-filter.ts')
  return startFilter(jq === undefined ? 'template' : 'jq', text, output)
}

function createContext(
  { json, profile, project, wait }: SharedOptions,
  output: Output,
  filter: OutputFilter | null,
): CommandContext {
  const patience =
    wait === true
      ? { waitMsMax: LIMIT_WAIT_MS_MAX, onWait: (sentence: string) => output.note(sentence) }
      : null
  const onAnswer = createDeprecationWarner((sentence) => output.note(sentence))
  const connectTo = (connection: Connection) => createGatewayClient(connection, { patience, onAnswer })
  const find = () => findConnection(profile, process.env, readProfiles(profilePath(process.env)))
  const connect = (): GatewayClient => {
    const connection = find()
    return connectTo(project === undefined ? connection : { ...connection, projectId: project })
  }
  const freshenOwn = () => freshen({ ...(profile !== undefined && { profile }) })
  return {
    output,
    isJson: json === true || filter !== null,
    profile,
    connect,
    freshConnect: async () => {
      await freshenOwn()
      return connect()
    },
    connectTo,
    freshKey: async () => {
      await freshenOwn()
      return find().apiKey
    },
    ...createPrinters(output, filter),
  }
}

type Printers = Pick<CommandContext, 'printJson' | 'printJsonLines' | 'printJsonLine'>

function createPrinters(output: Output, filter: OutputFilter | null): Printers {
  if (filter !== null) {
    const take = (value: unknown): void => filter.take(JSON.stringify(value))
    return { printJson: take, printJsonLines: take, printJsonLine: take }
  }
  const printJsonLine = (value: unknown): void => output.line(toJson(value))
  return {
    printJson: (value) => output.text(toJson(value, 2)),
    printJsonLines: (values) => values.forEach(printJsonLine),
    printJsonLine,
  }
}

/** Escapes also the control characters that JSON allows in texts, because a terminal obeys them. */
function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
