import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { readYamlObject } from '../../files/read-yaml-object.ts'
import { isInteractive, requireConsent } from '../../input/confirm.ts'
import { readLine } from '../../input/read-stdin.ts'
import { printable } from '../../output/printable.ts'

const KEY_LENGTH_MAX = 4096

interface AddOptions {
  readonly vendor?: string
  readonly own?: boolean
  readonly url?: string
  readonly secret?: string
  readonly keyless?: boolean
  readonly with?: string
}

const add = clientCommand<AddOptions>({
  name: 'add',
  summary: 'Add a provider while the gateway runs. Its key is read from the terminal or from stdin.',
  example: 'parkway admin providers add basement --own --url http://127.0.0.1:9/v1 --keyless',
  define: (command) =>
    command
      .argument('<provider>', 'the id of a vendor, or a name of your own')
      .option('--vendor <id>', 'the vendor, if the name is your own')
      .option('--own', 'a server of your own that speaks the OpenAI wire')
      .option('--url <address>', 'its address; that of the vendor unless told')
      .option('--secret <reference>', 'where the key is read instead: env:NAME or file:/path')
      .option('--keyless', 'it needs no key')
      .option('--with <file>', 'further members from a file, such as proxy and timeouts, in YAML or JSON'),
  async act({ output, isJson, connect, printJson }, options, name = '') {
    const { vendor, own = false, url, secret, keyless = false } = options
    if (own && vendor !== undefined) throw new CommandFailure(EXIT.usage, 'Give --vendor or --own, not both.')
    const kind = own ? { vendor: null } : vendor === undefined ? {} : { vendor }
    const body = {
      ...(options.with === undefined ? {} : await readYamlObject(options.with)),
      name,
      ...kind,
      ...(url === undefined ? {} : { base_url: url }),
      ...(keyless ? {} : await readSecret(name, secret)),
    }
    const provider = await connect().call((routes) => routes.POST('/v1/admin/providers', { body }))
    if (isJson) return printJson(provider)
    output.line(`${name} serves ${provider.models.length} models of the catalog from now on.`)
  },
})

const rotate = clientCommand<{ readonly secret?: string }>({
  name: 'rotate',
  summary: 'Replace the keys of a provider by one that is read from the terminal or from stdin.',
  example: 'echo "$NEW_KEY" | parkway admin providers rotate basement',
  define: (command) =>
    command
      .argument('<provider>', 'its name')
      .option('--secret <reference>', 'where the key is read instead: env:NAME or file:/path'),
  async act({ output, isJson, connect, printJson }, { secret }, name = '') {
    const credentials = [await readSecret(name, secret)]
    const provider = await connect().call((routes) =>
      routes.PATCH('/v1/admin/providers/{name}', { params: { path: { name } }, body: { credentials } }),
    )
    if (isJson) return printJson(provider)
    output.line(`${name} uses the new key.`)
  },
})

const set = clientCommand({
  name: 'set',
  summary:
    'Change members of a provider from a file: proxy, certificate_authority, headers, timeouts. What the file does not name stays.',
  example: 'parkway admin providers set basement network.yaml',
  define: (command) =>
    command.argument('<provider>', 'its name').argument('<file>', 'the members that change, in YAML or JSON'),
  async act({ output, isJson, connect, printJson }, _, name = '', path = '') {
    const body = await readYamlObject(path)
    const provider = await connect().call((routes) =>
      routes.PATCH('/v1/admin/providers/{name}', { params: { path: { name } }, body }),
    )
    if (isJson) return printJson(provider)
    output.line(`${printable(name)} is changed.`)
  },
})

const remove = clientCommand<{ readonly yes?: boolean }>({
  name: 'remove',
  summary: 'Remove a provider with its keys. Running requests end as usual.',
  example: 'parkway admin providers remove --yes basement',
  define: (command) => command.argument('<provider>', 'its name').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes = false }, name = '') {
    await requireConsent(`Remove the provider ${name} and its keys?`, yes)
    const removed = await connect().call((routes) =>
      routes.DELETE('/v1/admin/providers/{name}', { params: { path: { name } } }),
    )
    if (isJson) return printJson(removed)
    output.line(`${name} is removed.`)
  },
})

const models = clientCommand({
  name: 'models',
  summary: 'List the models that the key of a provider can see.',
  example: 'parkway admin providers models openai',
  define: (command) => command.argument('<provider>', 'its name'),
  async act({ output, isJson, connect, printJsonLines }, _options, name = '') {
    const { data } = await connect().call((routes) =>
      routes.GET('/v1/admin/providers/{name}/models', { params: { path: { name } } }),
    )
    if (isJson) return printJsonLines(data)
    for (const { id } of data) output.line(printable(id))
  },
})

/** A key is no argument, because arguments stay in the history of the shell. */
async function readSecret(
  name: string,
  reference: string | undefined,
): Promise<{ secret_ref: string } | { api_key: string }> {
  if (reference !== undefined) return { secret_ref: reference }
  const key = isInteractive() ? await promptForKey(name) : await readLine(KEY_LENGTH_MAX)
  if (key === '') throw new CommandFailure(EXIT.usage, 'No key was given.')
  return { api_key: key }
}

async function promptForKey(name: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts')
  const answer = await password({ message: printable(`Key of ${name}`) })
  if (isCancel(answer)) throw new CommandFailure(EXIT.interrupted, 'Nothing was changed.')
  return answer.trim()
}

export const PROVIDER_CHANGES = [add, set, rotate, remove, models]
