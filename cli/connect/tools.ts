import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { shellAssignment } from '../output/shell-assignment.ts'
import { hasJsonMember, readJsonString, removeJsonMember, setJsonString } from './edit/edit-json.ts'
import { setProfileBlock } from './edit/edit-shell-profile.ts'
import { removeTable, setTable, setTopLevelString } from './edit/edit-toml.ts'

/** The values that are written into the configuration of a tool. */
export interface ToolSettings {
  readonly baseUrl: string
  readonly apiKey: string
  /** Null leaves the choice to the tool. */
  readonly model: string | null
  /** Whether to name `PARKWAY_API_KEY` instead of writing the key. */
  readonly isKeyFromEnvironment: boolean
  /** The words that print a fresh token, instead of the key. Null for a key that does not expire. */
  readonly tokenCommand: readonly [program: string, ...words: string[]] | null
}

/** A tool that reads a file of its user. */
export interface FileTool {
  readonly title: string
  /** Whether the tool needs a model to be named. */
  readonly needsModel?: true
  path(environment: NodeJS.ProcessEnv): string
  /** Returns the text of the file with the gateway in it. */
  edit(text: string, settings: ToolSettings): string | Promise<string>
  /** What the person should know or do next. */
  notes(text: string, settings: ToolSettings): readonly string[]
}

/** Which program prints the token. It must not stay beside a key. */
const CODEX_AUTH = 'model_providers.parkway.auth'
/** Half of the life of an access token. */
const TOKEN_USED_MS = 30 * 60_000

const claudeCode: FileTool = {
  title: 'Claude Code',
  path: ({ CLAUDE_CONFIG_DIR: directory }) => join(directory || join(homedir(), '.claude'), 'settings.json'),
  edit(text, { baseUrl, apiKey, model, tokenCommand }) {
    const variables = {
      ANTHROPIC_BASE_URL: baseUrl,
      // Before the token expires, which takes an hour.
      ...(tokenCommand === null
        ? { ANTHROPIC_AUTH_TOKEN: apiKey }
        : { CLAUDE_CODE_API_KEY_HELPER_TTL_MS: String(TOKEN_USED_MS) }),
      ...(model === null ? {} : { ANTHROPIC_MODEL: model }),
    }
    const edited = Object.entries(variables).reduceRight(
      (before, [name, value]) => setJsonString(before, ['env', name], value),
      text,
    )
    return tokenCommand === null
      ? withoutTokenCommand(edited)
      : setJsonString(edited, ['apiKeyHelper'], tokenCommand.join(' '))
  },
  notes: (text, { tokenCommand }) => [
    ...(tokenCommand !== null && hasJsonMember(text, ['env', 'ANTHROPIC_AUTH_TOKEN'])
      ? [
          'The file also sets ANTHROPIC_AUTH_TOKEN: remove it, or Claude Code uses it instead of your sign-in.',
        ]
      : []),
    ...(hasJsonMember(text, ['env', 'ANTHROPIC_API_KEY'])
      ? ['The file also sets ANTHROPIC_API_KEY: remove it, or both keys are sent.']
      : []),
    ...(tokenCommand === null && hasJsonMember(text, ['apiKeyHelper'])
      ? ['The file also has an apiKeyHelper: remove it if Claude Code uses the wrong key.']
      : []),
    'Start "claude" and look at /status.',
  ],
}

/** A command of before would win over the key. One that the person wrote stays, and the notes name it. */
function withoutTokenCommand(text: string): string {
  const command = readJsonString(text, ['apiKeyHelper'])
  if (command === null || !/^parkway token(?: |$)/.test(command)) return text
  const edited = removeJsonMember(text, ['apiKeyHelper'])
  return removeJsonMember(edited, ['env', 'CLAUDE_CODE_API_KEY_HELPER_TTL_MS'])
}

const codex: FileTool = {
  title: 'Codex',
  path: ({ CODEX_HOME: directory }) => join(directory || join(homedir(), '.codex'), 'config.toml'),
  edit(text, { baseUrl, apiKey, model, isKeyFromEnvironment, tokenCommand }) {
    const isByCommand = tokenCommand !== null && !isKeyFromEnvironment
    const provider = {
      name: 'Parkway',
      base_url: `${baseUrl}/v1`,
      // The variable is missing in editors that no shell has started, so the key itself is the default.
      ...(isKeyFromEnvironment && { env_key: 'PARKWAY_API_KEY' }),
      ...(!isKeyFromEnvironment && !isByCommand && { experimental_bearer_token: apiKey }),
      wire_api: 'responses',
    }
    const withProvider = setTable(text, 'model_providers.parkway', provider)
    const withTable = isByCommand
      ? setTable(withProvider, CODEX_AUTH, {
          command: tokenCommand[0],
          args: tokenCommand.slice(1),
        })
      : removeTable(withProvider, CODEX_AUTH)
    const withModel = model === null ? withTable : setTopLevelString(withTable, 'model', model)
    return setTopLevelString(withModel, 'model_provider', 'parkway')
  },
  notes: (_, { model, isKeyFromEnvironment }) => [
    ...(isKeyFromEnvironment ? ['Codex reads the key from PARKWAY_API_KEY: see "parkway env".'] : []),
    ...(model === null ? ['Codex asks for its own model. Name one of the gateway with --model.'] : []),
    'Try: codex exec "Say hello."',
  ],
}

const continueDev: FileTool = {
  title: 'Continue',
  needsModel: true,
  path(environment) {
    const directory = environment.CONTINUE_GLOBAL_DIR || join(homedir(), '.continue')
    const path = join(directory, 'config.yaml')
    if (!existsSync(path) && existsSync(join(directory, 'config.json')))
      throw new CommandFailure(
        EXIT.failed,
        `Continue is configured by ${join(directory, 'config.json')}, which a new config.yaml would replace.`,
        'Move its settings to config.yaml first: docs.continue.dev/reference/yaml-migration.',
      )
    return path
  },
  async edit(text, { baseUrl, apiKey, model }) {
    const { setListEntry } = await import('./edit/edit-yaml.ts')
    const head = text.trim() === '' ? 'name: Local config\nversion: 1.0.0\nschema: v1\n' : text
    return setListEntry(head, 'models', {
      name: `Parkway ${model ?? ''}`,
      provider: 'openai',
      model: model ?? '',
      apiBase: `${baseUrl}/v1`,
      apiKey,
      roles: ['chat', 'edit', 'apply'],
    })
  },
  notes: () => ['Choose the model in the panel of Continue.'],
}

const openai: FileTool = {
  title: 'the OpenAI SDKs',
  path(environment) {
    const shell = environment.SHELL ?? ''
    if (process.platform === 'win32' && shell === '')
      throw new CommandFailure(
        EXIT.failed,
        'There is no shell profile to write on Windows.',
        'Set OPENAI_BASE_URL and OPENAI_API_KEY with setx; "parkway env --shell powershell" prints them.',
      )
    if (shell.endsWith('fish'))
      return join(environment.XDG_CONFIG_HOME || join(homedir(), '.config'), 'fish', 'conf.d', 'parkway.fish')
    if (shell.endsWith('zsh')) return join(environment.ZDOTDIR || homedir(), '.zshrc')
    return join(homedir(), shell.endsWith('bash') ? '.bashrc' : '.profile')
  },
  edit(text, { baseUrl, apiKey }) {
    const variables = { OPENAI_BASE_URL: `${baseUrl}/v1`, OPENAI_API_KEY: apiKey }
    const shell = process.env.SHELL ?? 'sh'
    return setProfileBlock(
      text,
      Object.entries(variables).map(([name, value]) => shellAssignment(shell, name, value)),
    )
  },
  notes: () => ['Open a new shell. Programs with an OpenAI SDK then use the gateway.'],
}

export const FILE_TOOLS: Readonly<Record<string, FileTool>> = {
  'claude-code': claudeCode,
  codex,
  openai,
  continue: continueDev,
}
