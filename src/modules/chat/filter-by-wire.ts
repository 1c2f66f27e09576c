import { nativeOf, type NativeWire } from '../../providers/native-wire.ts'
import { refuseFeature, type ServerFeature } from '../../wires/native-demands.ts'
import type { Untranslatable } from '../../wires/untranslatable.ts'
import type { Candidate } from '../inference/inference.ts'

/** What a request needs beyond what every chat model can do. */
export interface WireDemands {
  /** Why the request cannot be translated to the chat form, or null if it can. */
  readonly untranslatable: Untranslatable | null
  readonly features: readonly ServerFeature[]
}

/**
 * Returns the candidates that can serve the request. Those that need the native wire must speak it and be allowed its billed
 * features.
 */
export function filterByWire(
  wire: NativeWire,
  { untranslatable, features }: WireDemands,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  if (untranslatable === null && features.length === 0) return candidates
  let native = candidates.filter(
    ({ provider, upstreamModel }) => nativeOf(wire, provider, upstreamModel) !== undefined,
  )
  if (native.length === 0 && untranslatable !== null) throw untranslatable
  for (const feature of features) {
    const { member } = feature
    native = native.filter(({ provider }) => member !== null && provider.takenMembers?.has(member))
    if (native.length === 0) throw refuseFeature(feature)
  }
  return native
}
