import type { SpeechWork } from '../media/media-work.ts'
import { takesInstructions } from '../media/speech-instructions.ts'
import { vendorOf } from '../vendors.ts'

interface SpeechRoute {
  readonly provider: string
  readonly model: string
}

/** Removes instructions that no upstream of the model would receive, so that the client does not pay for them. */
export function keepReadInstructions(work: SpeechWork, routes: readonly SpeechRoute[]): SpeechWork {
  if (work.instructions === null) return work
  const isRead = routes.some(
    ({ provider, model }) => vendorOf(provider)?.lacksSpeechInstructions !== true && takesInstructions(model),
  )
  return isRead ? work : { ...work, instructions: null }
}
