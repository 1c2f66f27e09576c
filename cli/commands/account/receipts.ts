import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GatewayClient, Schemas } from '../../api/gateway-client.ts'
import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { formatNumber } from '../../output/format-number.ts'
import { printTable, type Column } from '../../output/tables/print-table.ts'
import { BILL_FILES } from '../../verify-bill/saved-bill.ts'

type Receipt = Schemas['Receipt']

/** A receipt a day: more than any account can have. */
const RECEIPTS_MAX = 1_000_000

const COLUMNS: readonly Column<Receipt>[] = [
  { title: 'receipt', of: ({ id }) => id, isId: true },
  { title: 'day', of: ({ day }) => day, rank: 1 },
  { title: 'records', of: ({ records }) => formatNumber(records), isNumber: true, rank: 2 },
]

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List the signed receipts of the account, newest first.',
  example: 'parkway receipts list',
  define: (command) => command.option('--limit <number>', 'how many', '31'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const receipts = await readReceipts(connect(), parseWhole('--limit', limit))
    if (isJson) return printJsonLines(receipts)
    if (receipts.length === 0)
      return output.note('There are no receipts yet. They are made some hours after the end of a day of UTC.')
    printTable(output, COLUMNS, receipts)
  },
})

interface SaveOptions {
  readonly output?: string
}

const save = clientCommand<SaveOptions>({
  name: 'save',
  summary: 'Save the records of a month with all receipts and keys, for `parkway verify-bill`.',
  example: 'parkway receipts save 2030-01',
  define: (command) =>
    command
      .argument('<month>', 'a month of UTC, such as 2030-01')
      .option('-o, --output <folder>', 'the folder to save to; bill-MONTH unless told'),
  async act({ output, connect }, { output: given }, month = '') {
    if (!/^\d{4}-\d{2}$/.test(month))
      throw new CommandFailure(EXIT.usage, 'Name a month of UTC, such as 2030-01.')
    const gateway = connect()
    const folder = given ?? `bill-${month}`
    await mkdir(folder, { recursive: true })
    const receipts = await readReceipts(gateway, RECEIPTS_MAX)
    for (const receipt of receipts) requireNumber(receipt)
    await writeFile(join(folder, BILL_FILES.month), `${month}\n`)
    const { data: keys } = await gateway.call((routes) => routes.GET('/v1/organization/receipts/keys'))
    await writeFile(join(folder, BILL_FILES.keys), `${JSON.stringify(keys, null, 2)}\n`)
    await writeFile(
      join(folder, BILL_FILES.receipts),
      receipts
        .toReversed()
        .map((receipt) => `${JSON.stringify(receipt)}\n`)
        .join(''),
    )
    for (const { id, number, day } of receipts)
      if (day.startsWith(month))
        await saveFile(
          gateway,
          `/v1/organization/receipts/${id}/leaves`,
          join(folder, BILL_FILES.leaves(number)),
        )
    await saveFile(
      gateway,
      `/v1/organization/receipts/records?month=${month}`,
      join(folder, BILL_FILES.records),
    )
    output.line(folder)
  },
})

export const receipts = commandGroup({
  name: 'receipts',
  summary: 'List the signed receipts of what the account was charged, or save a month to check it.',
  example: 'parkway receipts save 2030-01',
  byDefault: list,
  others: [save],
})

/** It becomes part of a path, and the gateway is not trusted here. */
function requireNumber({ id, number }: Receipt): void {
  if (Number.isSafeInteger(number) && id === `receipt_${number}`) return
  throw new CommandFailure(EXIT.failed, 'The gateway sent a receipt without a number.')
}

function readReceipts(gateway: GatewayClient, count: number): Promise<Receipt[]> {
  return readOrganizationPages(count, (query) =>
    gateway.call((routes) => routes.GET('/v1/organization/receipts', { params: { query } })),
  )
}

async function saveFile(gateway: GatewayClient, address: string, path: string): Promise<void> {
  const response = await gateway.send(address, { method: 'GET' })
  await saveResponseBody(response, path, { mayBeEmpty: true })
}
