import type { Deprecation } from '../api/deprecations.ts'
import { Badge, type Tone } from '../ui/text/badge.tsx'
import { Time } from '../ui/text/time.tsx'

type Ending = Pick<Deprecation, 'state' | 'shutdown_at'>

const TONES: Readonly<Record<Ending['state'], Tone>> = {
  announced: 'plain',
  deprecated: 'warn',
  ended: 'bad',
}

/** In which part of its end a model is. */
export function EndingState({ model }: { readonly model: Ending }) {
  return <Badge tone={TONES[model.state]}>{model.state}</Badge>
}

/** When a model ends, in words. */
export function EndOfModel({ model }: { readonly model: Ending }) {
  if (model.shutdown_at === null) return 'no end is known yet'
  return (
    <>
      {model.state === 'ended' ? 'ended' : 'ends'} <Time at={model.shutdown_at} />
    </>
  )
}
