import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd, usdFromNanoUsd } from '../../../kernel/money.ts'
import { readerOf } from '../../../modules/keys/keys.ts'
import type { AnomalyCause, ToldAnomaly, Usage, WeekdayComparison } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { accountAddress, toAddressForm } from './alert-forms.ts'

const CauseAnswer = Type.Object(
  {
    dimension: Type.Enum(['key', 'model', 'project'], { description: 'What it is.' }),
    id: Type.String({ description: 'The id of the key or project, or the model.' }),
    name: orNull(Type.String(), 'The name of the key or project. `null` for a model.'),
    spent_usd: Type.Number({ description: 'What it cost in this time.' }),
    usual_usd: Type.Number({ description: 'What it usually costs in the same time.' }),
    share: Type.Number({
      description: 'Its part of what the day costs more. Above 1 if something else costs less.',
    }),
  },
  { title: 'UsageAnomalyCause' },
)

export const AnomalyAnswer = Type.Object(
  {
    summary: Type.String({ description: 'The same as a sentence.' }),
    factor: orNull(Type.Number(), 'How many times what is usual. `null` if nothing is.'),
    causes: Type.Array(CauseAnswer, {
      description: 'The keys, models and projects that rose most, at most three of each.',
    }),
  },
  { title: 'UsageAnomaly' },
)

const ComparisonAnswer = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'The beginning of the day, in UTC.' }),
    to: Type.String({ format: 'date-time', description: 'The end of its last whole hour.' }),
    spent_usd: Type.Number({ description: 'What this time cost.' }),
    usual_usd: Type.Number({ description: 'The median of the same hours of the same weekdays before.' }),
    weekdays: Type.Integer({
      description: 'How many weekdays that is, at most eight. With fewer than four nothing is unusual.',
    }),
    anomaly: orNull(AnomalyAnswer, 'What is unusual about the day. `null` if nothing is.'),
  },
  { title: 'WeekdayComparison' },
)

interface AnomalyParts {
  readonly usage: Pick<Usage, 'compareWeekday'>
}

export const usageAnomalyRoutes = ({ usage }: AnomalyParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    path: '/v1/usage/anomalies',
    access: ANY_KEY,
    summary: 'Compare the day with the same weekdays',
    responses: {
      200: {
        description: 'The day so far, beside the same hours of the weekdays before.',
        schema: Type.Object({ object: objectName('usage.anomalies'), ...ComparisonAnswer.properties }),
      },
    },
    handle: async ({ caller }) => ({
      object: 'usage.anomalies',
      ...comparisonToWire(await usage.compareWeekday(readerOf(caller, 'usage.read'))),
    }),
  }),
]

export function comparisonToWire(compared: WeekdayComparison): Static<typeof ComparisonAnswer> {
  const { range, spentNanoUsd, usualNanoUsd, weekdays, anomaly } = compared
  return {
    from: toTimestamp(range.fromMs),
    to: toTimestamp(range.toMs),
    spent_usd: usdFromNanoUsd(spentNanoUsd),
    usual_usd: usdFromNanoUsd(usualNanoUsd),
    weekdays,
    anomaly: anomaly && {
      summary: describeAnomaly(compared),
      factor: anomaly.factor,
      causes: anomaly.causes.map(causeToWire),
    },
  }
}

/** What an address gets for an unusual day. */
export function anomalyToAddress(
  { id, createdAtMs, content }: ToldAnomaly,
  url: string,
  settings: Parameters<typeof accountAddress>[1],
): object {
  const createdAt = toTimestamp(createdAtMs)
  const event = {
    type: 'usage.anomaly',
    timestamp: createdAt,
    data: { id, object: 'usage.anomaly', ...content, created_at: createdAt },
  }
  const text = Value.Check(Told, content) ? content.anomaly.summary : UNUSUAL
  return toAddressForm({ subject: UNUSUAL, text, event }, accountAddress(url, settings))
}

const UNUSUAL = 'A day costs more than usual'
const Told = Type.Object({ anomaly: Type.Object({ summary: Type.String() }) })

function causeToWire(cause: AnomalyCause): Static<typeof CauseAnswer> {
  return {
    dimension: cause.dimension,
    id: cause.dimension === 'project' ? wireId('project', cause.id) : cause.id,
    name: cause.name,
    spent_usd: usdFromNanoUsd(cause.spentNanoUsd),
    usual_usd: usdFromNanoUsd(cause.usualNanoUsd),
    share: cause.share,
  }
}

const WEEKDAY = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' })

/** “Today until 14:00 UTC costs 6 × a usual Tuesday: 12 USD instead of 2 USD. Most of it: key nightly, model gpt-5.4.” */
function describeAnomaly({ range, spentNanoUsd, usualNanoUsd, anomaly }: WeekdayComparison): string {
  const until = `${toTimestamp(range.toMs).slice(11, 16)} UTC`
  const weekday = WEEKDAY.format(range.fromMs)
  const [spent, usual] = [spentNanoUsd, usualNanoUsd].map((amount) => `${formatUsd(roundCents(amount))} USD`)
  const factor = anomaly?.factor ?? null
  const cost =
    factor === null
      ? `${weekday} until ${until} cost ${spent}, and usually costs next to nothing`
      : `${weekday} until ${until} cost ${factor} × a usual ${weekday}: ${spent} instead of ${usual}`
  const first = (['key', 'model'] as const).flatMap((dimension) => {
    const cause = anomaly?.causes.find((each) => each.dimension === dimension)
    return cause ? [`${dimension} ${cause.name ?? cause.id}`] : []
  })
  return first.length === 0 ? `${cost}.` : `${cost}. Most of it: ${first.join(', ')}.`
}

const CENT = 10_000_000n

function roundCents(amount: bigint): bigint {
  return ((amount + CENT / 2n) / CENT) * CENT
}
