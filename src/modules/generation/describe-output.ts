import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'
import type { MediaWork } from '../../providers/media/media-work.ts'
import type { MadeOutput } from './price-work.ts'
import { countCharacters } from './price-work.ts'

/** Returns the `usage` of a response or a task. */
export function describeUsage(
  work: MediaWork<unknown>,
  made: MadeOutput,
  costNanoUsd: NanoUsd,
): Readonly<Record<string, number>> {
  return { ...countMade(work, made), cost_usd: usdFromNanoUsd(costNanoUsd) }
}

/** The count of a charge. */
export function countUnits(work: MediaWork<unknown>, made: MadeOutput): number {
  return Math.round(Object.values(countMade(work, made))[0] ?? 0)
}

function countMade(work: MediaWork<unknown>, { files, seconds }: MadeOutput): Record<string, number> {
  switch (work.kind) {
    case 'image':
    case 'upscale':
    case 'bg_remove':
      return { images: files }
    case 'video':
    case 'music':
      return { seconds: seconds ?? work.durationSeconds }
    case 'speech':
      return { characters: countCharacters(work) }
  }
}
