import { numberText, type Statement, type StatementRow } from '../../../modules/statements/statements.ts'
import { csvRow, type CsvAmount } from '../../answers/csv-row.ts'

const DAY_MS = 86_400_000
const NAME_WITHOUT_OPERATOR = 'Parkway'

interface FocusRow {
  readonly statement: Statement
  readonly row: StatementRow
}

/** The columns of FOCUS 1.2 that a charge of models has, in the order of their names, with their values. */
const COLUMNS: Readonly<Record<string, (of: FocusRow) => string | number | CsvAmount | null>> = {
  BilledCost: costOf,
  BillingAccountId: ({ statement }) => statement.account.id,
  BillingAccountName: ({ statement }) => statement.account.name,
  BillingCurrency: () => 'USD',
  BillingPeriodEnd: ({ statement }) => timeText(statement.month.toMs),
  BillingPeriodStart: ({ statement }) => timeText(statement.month.fromMs),
  ChargeCategory: () => 'Usage',
  ChargeClass: () => null,
  ChargeDescription: ({ row }) => row.charge?.model ?? row.reason,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: ({ row }) => timeText(Date.parse(row.at) + DAY_MS),
  ChargePeriodStart: ({ row }) => timeText(Date.parse(row.at)),
  ConsumedQuantity: ({ row }) => row.charge?.requests ?? null,
  ConsumedUnit: ({ row }) => (row.charge === null ? null : 'Requests'),
  ContractedCost: costOf,
  EffectiveCost: costOf,
  InvoiceId: ({ statement }) => (statement.number === null ? null : numberText(statement.number)),
  InvoiceIssuerName: operatorOf,
  ListCost: costOf,
  PricingCategory: () => 'Standard',
  PricingQuantity: ({ row }) => row.charge?.requests ?? null,
  PricingUnit: ({ row }) => (row.charge === null ? null : 'Requests'),
  ProviderName: operatorOf,
  PublisherName: operatorOf,
  ResourceId: ({ row }) => row.charge?.keyId ?? null,
  ResourceName: ({ row }) => row.charge?.keyName ?? null,
  ResourceType: ({ row }) => (row.charge === null ? null : 'API key'),
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: () => 'AI models',
  ServiceSubcategory: () => 'Generative AI',
  SkuId: ({ row }) => row.charge?.model ?? null,
  SubAccountId: ({ row }) => row.charge?.projectId ?? null,
  SubAccountName: ({ row }) => row.charge?.projectName ?? null,
  SubAccountType: ({ row }) => (row.charge === null ? null : 'Project'),
}

/** Writes the charges of a statement as tools for cloud costs read them. They add up to what the statement charged. */
export async function* writeFocusCsv(
  statement: Statement,
  rows: AsyncIterable<readonly StatementRow[]>,
): AsyncGenerator<string> {
  yield csvRow(Object.keys(COLUMNS))
  const values = Object.values(COLUMNS)
  for await (const part of rows)
    yield part
      .filter(({ kind }) => kind === 'charges')
      .map((row) => csvRow(values.map((valueOf) => valueOf({ statement, row }))))
      .join('')
}

function costOf({ row }: FocusRow): CsvAmount {
  return { nanoUsd: -row.amountNanoUsd }
}

function operatorOf({ statement }: FocusRow): string {
  return statement.operator.name ?? NAME_WITHOUT_OPERATOR
}

/** FOCUS wants seconds, and `Z`. */
function timeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}Z`
}
