import { AppError } from '../../kernel/app-error.ts'
import { BILLED_MEMBERS, isOrdinaryValue } from '../../providers/requests/billed-members.ts'
import type { MediaWork } from '../../providers/media/media-work.ts'
import type { Provider } from '../../providers/provider.ts'

/** Members that affect neither the price of an image nor the choice of the provider. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set(['user', 'moderation', 'output_compression'])

/**
 * Filters the members that are passed on to an image provider. An image has a fixed price, unlike counted tokens, so only listed
 * members pass. Members that are known to change the bill are refused, and unknown ones are dropped.
 */
export function filterExtraMembers<File>(
  work: MediaWork<File>,
  candidates: readonly { readonly provider: Provider }[],
): MediaWork<File> {
  if (work.kind !== 'image') return work
  const kept = Object.entries(work.extra).filter(([name, value]) => {
    // A task may be sent to any of the candidates.
    const isTaken = candidates.every(({ provider }) => provider.takenMembers?.has(name))
    if (PLAIN_MEMBERS.has(name) || isTaken) return true
    if (BILLED_MEMBERS.get(name) === 'refused' && !isOrdinaryValue(name, value)) throw untakenMember(name)
    return false
  })
  return { ...work, extra: Object.fromEntries(kept) }
}

function untakenMember(name: string): AppError {
  const message = `'${name}' changes what the provider does or bills, and is not taken here.`
  return new AppError('unsupported_parameter', message, { param: name })
}
