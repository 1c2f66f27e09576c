import type { Schemas } from '../../api/gateway-client.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { parseSince } from '../../input/parse-date.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printTable } from '../../output/tables/print-table.ts'

type Entry = Schemas['LedgerEntry']

const KINDS: readonly Entry['kind'][] = ['grant', 'charge', 'reverse', 'deduct', 'expire']

interface MovementsOptions {
  readonly kind?: string
  readonly since?: string
  readonly until?: string
  readonly limit: string
  readonly csv?: boolean
  readonly output?: string
  readonly force?: boolean
}

export const movements = clientCommand<MovementsOptions>({
  name: 'movements',
  summary:
    'List the ledger of the account: every movement of the credit, newest first, with the balance after it.',
  example: 'parkway movements --since 7d',
  define: (command) =>
    command
      .option('--kind <name>', `only ${KINDS.join(', ')}`)
      .option('--since <time>', 'a date, or how long ago: 6h, 7d')
      .option('--until <time>', 'the same; not included')
      .option('--limit <number>', 'how many', '50')
      .option('--csv', 'print all of them as comma-separated values')
      .option('-o, --output <path>', 'save all of them as CSV')
      .option('--force', 'replace a file that exists'),
  async act({ output, isJson, connect, printJsonLines }, options) {
    const filter = filterOf(options)
    const gateway = connect()
    const { csv, output: path } = options
    if (csv === true || path !== undefined) {
      if (path !== undefined) await askBeforeReplacing(path, { isForced: options.force === true })
      const query = new URLSearchParams({ ...filter, format: 'csv' })
      const response = await gateway.send(`/v1/ledger?${query.toString()}`, { method: 'GET' })
      if (path === undefined) return output.copy(await response.text())
      await saveResponseBody(response, path)
      return output.line(path)
    }
    const entries = await readPages(parseWhole('--limit', options.limit), async (page) => {
      const answer = await gateway.call((routes) =>
        routes.GET('/v1/ledger', { params: { query: { ...filter, ...page } } }),
      )
      if (typeof answer === 'string') throw new CommandFailure(EXIT.failed, 'The gateway sent a file.')
      return answer
    })
    if (isJson) return printJsonLines(entries)
    printTable(
      output,
      [
        { title: 'time', of: ({ created_at: at }) => at, isTime: true },
        { title: 'kind', of: ({ kind }) => kind, rank: 2 },
        { title: 'amount', of: ({ amount_usd: usd }) => signed(usd), isNumber: true, rank: 1 },
        { title: 'balance', of: ({ balance_usd: usd }) => signed(usd), isNumber: true, rank: 3 },
        { title: 'for', of: describe, rank: 4, isText: true },
      ],
      entries,
    )
  },
})

interface Filter {
  readonly kind?: Entry['kind']
  readonly since?: string
  readonly until?: string
}

function filterOf({ kind, since, until }: MovementsOptions): Filter & Record<string, string> {
  const known = KINDS.find((name) => name === kind)
  if (kind !== undefined && known === undefined)
    throw new CommandFailure(EXIT.usage, `--kind takes ${KINDS.join(', ')}.`)
  return {
    ...(known !== undefined && { kind: known }),
    ...(since !== undefined && { since: parseSince('--since', since) }),
    ...(until !== undefined && { until: parseSince('--until', until) }),
  }
}

function signed(usd: number): string {
  return usd < 0 ? `-${formatUsd(-usd)}` : formatUsd(usd)
}

/** The models of a charge, or the reason of any other movement. */
function describe({ charges, reason }: Entry): string {
  if (charges === null || charges.length === 0) return reason ?? '-'
  return [...new Set(charges.map(({ model }) => model ?? 'others'))].join(', ')
}
