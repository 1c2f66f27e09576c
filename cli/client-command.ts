import { Command } from 'commander'
import { createGatewayClient, type GatewayClient } from './api/gateway-client.ts'
import { createDeprecationWarner } from './api/warn-of-deprecation.ts'
import { createOutput, type Output } from './output/terminal.ts'
import { findConnection, findProfileName, type Connection } from './profile/find-connection.ts'
import { profilePath, readProfiles } from './profile/profile-file.ts'

/** What every client command can use. */
export interface CommandContext {
  readonly output: Output
  /** Whether to print exactly the API's JSON. */
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
  /** Prints a list as JSON lines. */
  readonly printJsonLines: (values: readonly unknown[]) => void
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
    .option('--profile <name>', 'use another profile than the current one')
    .option('--project <id>', 'refuse to work in another project than this one')
    .option('--wait', 'wait for rate limits instead of ending with exit code 6')
    .addHelpText('after', `\nExample:\n  ${example}`)
  const defined = define === undefined ? command : define(command)
  return defined.action(async (...passed: unknown[]) => {
    // commander passes the arguments, the options and the command itself.
    const words = passed.slice(0, -2).flat() as string[]
    if (!WITHOUT_FRESH_TOKEN.has(name)) await freshen(command.opts<SharedOptions>())
    const context = createContext(command.opts())
    const given = { words, options: command.opts<Options>() }
    if (words.length === 0 && Object.keys(given.options).length === 0) return act(context, given.options)
    const { resolveWords } = await import('./short-ids/resolve-words.ts')
    const whole = await resolveWords(command, given, context.connect)
    await act(context, whole.options, ...(whole.words as string[]))
  })
}

interface SharedOptions {
  readonly json?: boolean
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

function createContext({ json, profile, project, wait }: SharedOptions): CommandContext {
  const output = createOutput(process)
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
    isJson: json === true,
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
    printJson: (value) => output.text(toJson(value, 2)),
    printJsonLines: (values) => {
      for (const value of values) output.line(toJson(value))
    },
  }
}

/** Escapes also the control characters that JSON allows in texts, because a terminal obeys them. */
function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
