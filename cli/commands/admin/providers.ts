import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'
import { PROVIDER_CHANGES } from './change-providers.ts'
import { formatNumber } from '../../output/format-number.ts'

const list = clientCommand<{ readonly all?: boolean }>({
  name: 'list',
  summary: 'List the providers: configured, failing, how fast.',
  example: 'parkway admin providers list --all',
  define: (command) => command.option('--all', 'also providers that are not configured'),
  async act({ output, isJson, connect, printJsonLines }, { all }) {
    const { data } = await connect().call((routes) => routes.GET('/v1/admin/providers'))
    const shown = all === true ? data : data.filter((provider) => provider.source !== null)
    if (isJson) return printJsonLines(shown)
    if (shown.length === 0)
      return output.note(
        'No provider is configured. "parkway admin providers add" adds one; "list --all" lists what each needs.',
      )
    printTable(
      output,
      [
        { title: 'provider', of: ({ id }) => id },
        {
          title: 'state',
          of: stateOf,
          rank: 2,
          isText: true,
        },
        { title: 'models', of: ({ models }) => String(models.length), isNumber: true, rank: 6 },
        { title: 'requests', of: ({ recent }) => String(recent.requests), isNumber: true, rank: 5 },
        { title: 'failed', of: ({ recent }) => share(recent.error_share), isNumber: true, rank: 3 },
        {
          title: 'median ms',
          of: ({ recent }) => String(recent.latency_ms.p50 ?? '-'),
          isNumber: true,
          rank: 7,
        },
        {
          title: 'broken',
          of: ({ models }) =>
            models
              .filter(({ breaker }) => breaker.state !== 'closed')
              .map(({ model }) => model)
              .join(', ') || '-',
          rank: 4,
          isText: true,
        },
      ],
      shown,
    )
  },
})

const test = clientCommand<{ readonly model?: string }>({
  name: 'test',
  summary: 'Make a small call to a provider, which no account pays for. Fails if the call fails.',
  example: 'parkway admin providers test openai',
  define: (command) =>
    command.argument('<provider>', 'its name').option('-m, --model <id>', 'with this model'),
  async act({ output, isJson, connect, printJson }, { model }, name = '') {
    const result = await connect().call((routes) =>
      routes.POST('/v1/admin/providers/{name}/test', {
        params: { path: { name } },
        body: model === undefined ? {} : { model },
      }),
    )
    if (isJson) printJson(result)
    const { is_ok: isOk, latency_ms: latencyMs, upstream_model: upstream, message, failure } = result
    if (!isOk)
      throw new CommandFailure(
        EXIT.failed,
        `${name} failed (${failure ?? 'unknown'}): ${printable(message ?? 'no message')}`,
      )
    if (!isJson) output.line(`${name} answered with ${printable(upstream)} in ${Math.round(latencyMs)} ms.`)
  },
})

const limits = clientCommand({
  name: 'limits',
  summary: 'List the keys of providers that have limits, with what they used.',
  example: 'parkway admin providers limits',
  define: (command) => command.argument('[provider]', 'only those of this one'),
  async act({ output, isJson, connect, printJsonLines }, _options, name?: string) {
    const { data } = await connect().call((routes) => routes.GET('/v1/admin/providers'))
    const keys = data
      .filter(({ id }) => name === undefined || id === name)
      .flatMap(({ id: provider, limited_keys: limited }) => limited.map((key) => ({ provider, ...key })))
    if (isJson) return printJsonLines(keys)
    if (keys.length === 0) return output.note('No key of a provider has a limit.')
    printTable(
      output,
      [
        { title: 'provider', of: ({ provider }) => provider },
        { title: 'key', of: nameOfKey, rank: 2, isText: true },
        { title: 'requests/min', of: (key) => usedOf(key.requests_per_minute), isNumber: true, rank: 4 },
        { title: 'tokens/min', of: (key) => usedOf(key.tokens_per_minute), isNumber: true, rank: 5 },
        { title: '$ today', of: (key) => usedOf(key.budget_usd_per_day), isNumber: true, rank: 3 },
        { title: 'state', of: (key) => (key.is_used_up ? 'used up' : 'in use'), rank: 6 },
      ],
      keys,
    )
  },
})

type LimitedKey = Schemas['ProviderStatus']['limited_keys'][number]

function nameOfKey({ id, ends_with: end, secret_ref: reference }: LimitedKey): string {
  return printable(reference ?? (end === null ? id : `…${end}`))
}

function usedOf(part: LimitedKey['requests_per_minute']): string {
  return part === null ? '-' : `${part.used} of ${part.limit}`
}

function stateOf(provider: Schemas['ProviderStatus']): string {
  if (provider.problem !== null) return printable(provider.problem)
  if (!provider.is_enabled) return 'switched off'
  return provider.is_configured ? 'configured' : `needs ${provider.missing.join(', ')}`
}

function share(value: number | null): string {
  return value === null ? '-' : `${formatNumber(value * 100, 1)} %`
}

export const providers = commandGroup({
  name: 'providers',
  summary: 'List, add, test, change and remove providers.',
  example: 'parkway admin providers',
  byDefault: list,
  others: [test, limits, ...PROVIDER_CHANGES],
})
