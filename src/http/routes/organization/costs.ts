import { Type } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import { readerOf } from '../../../modules/keys/keys.ts'
import type { BucketResult, Grouping, Usage } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  bucketParameters,
  groupByParameter,
  parseBuckets,
  tagsParameter,
  type ParsedBuckets,
} from './usage-buckets-query.ts'
import { answerBuckets, bucketPage, groupMembers, groupToWire } from './usage-page.ts'

const DAYS_USUAL = 7
const DAYS_MAX = 180

const GROUPINGS = lookupTable<Grouping>({
  project_id: 'project',
  line_item: 'operation',
  api_key_id: 'key',
  user_id: 'owner',
  model: 'model',
})

const CostsQuery = Type.Object({
  ...bucketParameters,
  bucket_width: Type.Optional(Type.Literal('1d', { description: 'Days of UTC.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DAYS_MAX,
      description: `How many days a page has; ${DAYS_USUAL} unless told.`,
    }),
  ),
  ...groupByParameter(
    ['project_id', 'line_item', 'api_key_id', 'user_id', 'model', 'tag:NAME'],
    'What to group by, several together:',
  ),
  ...tagsParameter,
})

const CostsResult = Type.Object({
  object: objectName('organization.costs.result'),
  amount: Type.Object(
    {
      value: Type.Number({ description: 'In US dollars.' }),
      currency: Type.Literal('usd', { description: 'Always US dollars.' }),
      nano_usd: Type.String({
        description: 'The same in whole nano-dollars, so that sums are exact.',
      }),
    },
    { description: 'What was charged.' },
  ),
  line_item: orNull(
    Type.String(),
    'If grouped by `line_item`: the model and the operation, such as `gpt-5.4, chat`.',
  ),
  ...groupMembers,
  tags: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
      description: 'If grouped by a tag: its value. Null for requests without it.',
    }),
  ),
  quantity: orNull(Type.Number(), 'Always null: the usage routes have quantities.'),
  quantity_unit: orNull(Type.String(), 'Always null.'),
})

interface CostsParts {
  readonly usage: Pick<Usage, 'readBuckets'>
  readonly clock: Clock
}

export const costsRoute = ({ usage, clock }: CostsParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/v1/organization/costs',
    mayBeOld: true,
    tag: 'Organization',
    access: inProject('usage.read'),
    summary: 'Read costs by day',
    query: CostsQuery,
    otherErrors: [404],
    responses: {
      200: { description: 'Each day of the range.', schema: bucketPage('CostsPage', CostsResult) },
    },
    handle: async ({ caller, query }) => {
      const parsed = parseBuckets(query, {
        reader: readerOf(caller, 'usage.read'),
        nowMs: clock.nowMs(),
        width: '1d',
        limit: { usual: DAYS_USUAL, max: DAYS_MAX },
        groupings: GROUPINGS,
        hasTags: true,
        operations: null,
      })
      return answerBuckets(usage, withLineItems(parsed), (result) => costToWire(result, parsed))
    },
  })

/** A line item is a model and what it did. */
function withLineItems(parsed: ParsedBuckets): ParsedBuckets {
  if (!parsed.groupBy.has('line_item')) return parsed
  const { query } = parsed
  return { ...parsed, query: { ...query, groupBy: new Set([...query.groupBy, 'model']) } }
}

function costToWire(result: BucketResult, { groupBy, query }: ParsedBuckets): Record<string, unknown> {
  const { model, operation, tag, totals } = result
  return {
    object: 'organization.costs.result',
    amount: {
      value: usdFromNanoUsd(totals.costNanoUsd),
      currency: 'usd',
      nano_usd: String(totals.costNanoUsd),
    },
    line_item: groupBy.has('line_item') ? `${model}, ${operation}` : null,
    ...groupToWire(result),
    model: groupBy.has('model') ? model : null,
    ...(query.tagName !== null && { tags: { [query.tagName]: tag } }),
    quantity: null,
    quantity_unit: null,
  }
}
