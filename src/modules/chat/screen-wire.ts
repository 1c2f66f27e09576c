import type { NativeWire } from '../../providers/native-wire.ts'
import { refuseFeature, type ServerFeature } from '../../wires/native-demands.ts'
import type { Untranslatable } from '../../wires/untranslatable.ts'
import type { Candidate } from '../inference/inference.ts'

/** What a request asks of whoever serves it, besides what every chat model can do. */
export interface WireDemands {
  /** Why it cannot be translated to the chat form; null where it can. */
  readonly untranslatable: Untranslatable | null
  readonly features: readonly ServerFeature[]
}

/** Those that can be asked: where only the wire's own can, who speaks it and is allowed what it bills. */
export function screenWire(
  wire: NativeWire,
  { untranslatable, features }: WireDemands,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  if (untranslatable === null && features.length === 0) return candidates
  let speakers = candidates.filter(({ provider }) => provider.native?.[wire] !== undefined)
  if (speakers.length === 0 && untranslatable !== null) throw untranslatable
  for (const feature of features) {
    const { member } = feature
    speakers = speakers.filter(({ provider }) => member !== null && provider.takenMembers?.has(member))
    if (speakers.length === 0) throw refuseFeature(feature)
  }
  return speakers
}
