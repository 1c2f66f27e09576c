import { readFile } from 'node:fs/promises'
import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { explainReadError } from '../../files/explain-read-error.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseDate } from '../../input/parse-date.ts'
import type { Output } from '../../output/terminal.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'

type Difference = Schemas['PriceDifference']

interface ImportOptions {
  readonly format: string
  readonly model?: readonly string[]
  readonly apply?: boolean
  readonly from?: string
  readonly yes?: boolean
}

const FORMATS = ['litellm', 'models.dev'] as const
/** A list may have a thousand models that the gateway does not sell. */
const NEW_SHOWN_MAX = 20

/** Compares a public price list with the gateway, and takes what is named. */
export const importPrices = clientCommand<ImportOptions>({
  name: 'import',
  summary: 'Compare a public price list with the gateway. Nothing is changed without --apply.',
  example: 'parkway admin prices import prices.json',
  define: (command) =>
    command
      .argument('<source>', 'a file, or an address that the gateway reads')
      .option('--format <name>', 'litellm or models.dev', 'litellm')
      .option('--apply', 'apply all changed prices that are not suspicious')
      .option('-m, --model <id...>', 'with --apply: only these, also new and suspicious ones')
      .option('--from <date>', 'with --apply: the moment from which they are charged')
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, options, place = '') {
    const { model: models, apply = false, from, yes = false } = options
    const format = FORMATS.find((known) => known === options.format)
    if (format === undefined) throw new CommandFailure(EXIT.usage, '--format takes litellm or models.dev.')
    if (!apply && (models !== undefined || from !== undefined))
      throw new CommandFailure(EXIT.usage, '--model and --from need --apply.')
    const source = { format, ...(await readSource(place)) }
    const client = connect()
    const compared = await client.call((routes) => routes.POST('/v1/admin/price_imports', { body: source }))
    if (!apply) return isJson ? printJson(compared) : printComparison(output, compared)
    if (!isJson) printComparison(output, compared)
    await requireConsent(
      models === undefined ? 'Take the changed prices?' : `Take ${models.join(', ')}?`,
      yes,
    )
    const applied = await client.call((routes) =>
      routes.POST('/v1/admin/price_imports/apply', {
        body: {
          ...source,
          digest: compared.digest,
          ...(models === undefined ? {} : { models: [...models] }),
          ...(from === undefined ? {} : { effective_from: parseDate('--from', from) }),
        },
      }),
    )
    if (isJson) return printJson(applied)
    const { changed, added } = applied
    if (changed.length > 0) output.line(`Changed prices: ${changed.map(printable).join(', ')}.`)
    if (added.length > 0) output.line(`New models: ${added.map(printable).join(', ')}.`)
    if (changed.length + added.length === 0) output.line('Nothing is changed.')
  },
})

async function readSource(place: string): Promise<{ url: string } | { text: string }> {
  if (/^https?:\/\//.test(place)) return { url: place }
  const text = await readFile(place, 'utf8').catch((error: unknown) => {
    throw explainReadError(place, error)
  })
  return { text }
}

function printComparison(output: Output, compared: Schemas['PriceImport']): void {
  const { differences, problems, same_count: same } = compared
  const changed = differences.filter(({ status }) => status === 'changed')
  const added = differences.filter(({ status }) => status === 'new')
  const gone = differences.filter(({ status }) => status === 'gone')
  if (changed.length > 0)
    printTable(
      output,
      [
        { title: 'model', of: ({ model }) => model },
        { title: 'provider', of: ({ provider }) => provider, rank: 3 },
        { title: 'change', of: describeChanges, rank: 1, isText: true },
        { title: 'suspicious', of: (one) => (one.is_suspicious ? 'yes' : '-'), rank: 2 },
      ],
      changed,
    )
  const names = (list: readonly Difference[]) =>
    list
      .slice(0, NEW_SHOWN_MAX)
      .map(({ model }) => printable(model))
      .join(', ') + (list.length > NEW_SHOWN_MAX ? `, and ${list.length - NEW_SHOWN_MAX} more` : '')
  if (added.length > 0) output.line(`New: ${names(added)}`)
  if (gone.length > 0) output.line(`Not in the list: ${names(gone)}`)
  for (const { key, reason } of problems.slice(0, NEW_SHOWN_MAX))
    output.note(printable(`Not used: ${key}: ${reason}`))
  if (problems.length > NEW_SHOWN_MAX) output.note(`${problems.length - NEW_SHOWN_MAX} more are not used.`)
  output.line(
    `${changed.length} changed, ${added.length} new, ${gone.length} not in the list, ${same} the same.`,
  )
}

function describeChanges({ changes }: Difference): string {
  return changes.map(({ field, from, to }) => `${field} ${from ?? '-'} → ${to}`).join(', ')
}
