import { Argument } from 'commander'
import { clientCommand, type CommandContext } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { connectTool, disconnectTool } from '../connect/connect-tool.ts'
import { FILE_TOOLS } from '../connect/tools.ts'
import { firstReadyModel } from './make/make-media.ts'

interface ConnectOptions {
  readonly model?: string
  readonly keyFromEnv?: boolean
  readonly undo?: boolean
  readonly force?: boolean
  readonly yes?: boolean
  readonly dryRun?: boolean
}

const CURSOR = 'cursor'
/** The tools that run a command for their token, so that a sign-in in the browser is enough. */
const TAKES_COMMAND: ReadonlySet<string> = new Set(['claude-code', 'codex'])

const DETAILS = `
The difference is shown first, with keys masked. A copy of the file is kept beside the profiles. Files:
  claude-code  ~/.claude/settings.json, or that of CLAUDE_CONFIG_DIR
  codex        ~/.codex/config.toml, or that of CODEX_HOME
  openai       the profile of the shell: OPENAI_BASE_URL and OPENAI_API_KEY
  continue     ~/.continue/config.yaml, or that of CONTINUE_GLOBAL_DIR
  cursor       has no file for this: the steps are printed
Files in a git work tree are refused, because a key must not get into a project.`

export const connect = clientCommand<ConnectOptions>({
  name: 'connect',
  summary: "Make a tool use this gateway: writes the tool's own configuration of this user.",
  example: 'parkway connect claude-code --yes',
  define: (command) =>
    command
      .addArgument(new Argument('<tool>', 'which one').choices([...Object.keys(FILE_TOOLS), CURSOR]))
      .option('-m, --model <id>', 'the model that the tool asks for')
      .option('--key-from-env', 'codex only: name PARKWAY_API_KEY instead of writing the key')
      .option('--dry-run', 'only show the difference')
      .option('-y, --yes', 'do not ask')
      .option('--undo', 'restore the file as it was before')
      .option('--force', 'with --undo: also if the file was changed since')
      .addHelpText('after', DETAILS),
  async act(context, options, name = '') {
    const tool = Object.hasOwn(FILE_TOOLS, name) ? FILE_TOOLS[name] : undefined
    if (tool === undefined) return explainCursor(context, options)
    if (options.undo === true)
      return disconnectTool(context, { name, title: tool.title, isForced: options.force === true })
    const gateway = context.connect()
    // A wrong key is found now, and not by the tool.
    const { key } = await gateway.call((routes) => routes.GET('/v1/tenants/me'))
    if (key.scopes.includes('admin'))
      context.output.note(
        'This key operates the gateway. A key of its own is safer: parkway keys create --scopes inference',
      )
    const model =
      options.model ?? (tool.needsModel === true ? await firstReadyModel(gateway, { category: 'llm' }) : null)
    const { baseUrl, apiKey, profile, isSignedInByPerson } = gateway.connection
    const isByPerson = isSignedInByPerson === true && profile !== null
    if (isByPerson && !TAKES_COMMAND.has(name))
      throw new CommandFailure(
        EXIT.failed,
        `${tool.title} cannot ask for a fresh token, and yours expires in an hour.`,
        'Use a profile with a key: parkway login --key --profile tools',
      )
    const tokenCommand = isByPerson ? (['parkway', 'token', '--profile', profile] as const) : null
    const isKeyFromEnvironment = options.keyFromEnv === true
    await connectTool(
      context,
      { name, tool, settings: { baseUrl, apiKey, model, isKeyFromEnvironment, tokenCommand } },
      { isGiven: options.yes === true, isTrial: options.dryRun === true },
    )
  },
})

/** Cursor keeps these settings in a database of its own, which it overwrites while it runs. */
function explainCursor({ output, connect: open }: CommandContext, { undo }: ConnectOptions): void {
  if (undo === true)
    return output.line(
      'In Cursor: Settings → Models → turn off "Override OpenAI Base URL" and "OpenAI API Key".',
    )
  const { baseUrl } = open().connection
  output.note('Cursor keeps these settings in its own database, so there is no file to write. In Cursor:')
  output.text(`1. Open Settings → Models → API Keys.
2. Paste a key of this gateway as "OpenAI API Key" (parkway keys create --scopes inference).
3. Turn on "Override OpenAI Base URL" and enter ${baseUrl}/v1
4. Add the models that you want under "Models", by their ids (parkway models --category llm).
5. Turn off the override to use the models of Cursor again.`)
  if (/^https?:\/\/(localhost|127\.|10\.|192\.168\.|\[)/.test(baseUrl))
    output.note(
      `The servers of Cursor call the gateway, so ${baseUrl} must be an address that they can reach.`,
    )
}
