import { Type, type TSchema } from 'typebox'
import type { Bucket, BucketResult, Usage } from '../../../modules/usage/usage.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { unixSeconds } from './organization-list.ts'
import { toPage, type ParsedBuckets } from './usage-buckets-query.ts'

/** The schema of a page of buckets. */
export function bucketPage(title: string, result: TSchema): TSchema {
  const bucket = Type.Object({
    object: objectName('bucket'),
    start_time: Type.Integer({ description: 'In seconds, of UTC.' }),
    end_time: Type.Integer({ description: 'In seconds. What began then is in the next bucket.' }),
    results: Type.Array(result, {
      description: 'One for each group, the dearest first. Empty without usage.',
    }),
  })
  return Type.Object(
    {
      object: objectName('page'),
      data: Type.Array(bucket, { description: 'The buckets in order, without gaps.' }),
      has_more: Type.Boolean({ description: 'Whether there is a further page.' }),
      next_page: orNull(Type.String(), 'Send it as `page` for the next page.'),
    },
    { title },
  )
}

const Text = (description: string) => orNull(Type.String(), description)

/** Members of all results. Each is null unless it is grouped by. */
export const groupMembers = {
  project_id: Text('If grouped by `project_id`.'),
  user_id: Text(
    'If grouped by `user_id`: the person or service account of the key. Null for a key of the account.',
  ),
  api_key_id: Text('If grouped by `api_key_id`: the id of the key.'),
  model: Text('If grouped by `model`.'),
}

export function groupToWire({ projectId, owner, keyId, model }: BucketResult) {
  return {
    project_id: projectId === null ? null : wireId('project', projectId),
    user_id: owner === null ? null : wireId(owner.kind, owner.id),
    api_key_id: keyId,
    model,
  }
}

/** Reads a page of buckets. It may end before its limit, if there are many results. */
export async function answerBuckets(
  usage: Pick<Usage, 'readBuckets'>,
  { query, endMs }: ParsedBuckets,
  toWire: (result: BucketResult) => Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { fromMs, toMs } = query.range
  const buckets = fromMs < toMs ? await usage.readBuckets(query) : []
  const reachedMs = buckets.at(-1)?.range.toMs ?? endMs
  const hasMore = reachedMs < endMs
  return {
    object: 'page',
    data: buckets.map((bucket) => bucketToWire(bucket, toWire)),
    has_more: hasMore,
    next_page: hasMore ? toPage(reachedMs) : null,
  }
}

function bucketToWire({ range, results }: Bucket, toWire: (result: BucketResult) => object) {
  return {
    object: 'bucket',
    start_time: unixSeconds(range.fromMs),
    end_time: unixSeconds(range.toMs),
    results: results.map(toWire),
  }
}
