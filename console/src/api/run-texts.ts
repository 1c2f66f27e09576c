import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { CompareCell } from './compare.ts'
import type { Schemas } from './client.ts'

type RunEvent = Schemas['CompareRunEvent']
type CellName = Pick<CompareCell, 'prompt_index' | 'repeat' | 'lane_id'>

/** Returns the answers of a run as far as they are written, by `nameOfCell`. Follows the run while it is under way. */
export function useRunTexts(runId: string, isRunning: boolean): ReadonlyMap<string, string> {
  const queryClient = useQueryClient()
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  useEffect(() => {
    if (!isRunning) return
    const source = new EventSource(`/v1/compare/runs/${runId}/stream`)
    source.addEventListener('message', ({ data }) => {
      if (typeof data !== 'string' || data === '[DONE]') return
      const event: RunEvent | { readonly error: unknown } = JSON.parse(data)
      // A gateway that shuts down says so. The browser connects again by itself.
      if ('error' in event) return
      if (event.type === 'text') {
        setTexts((known) => new Map(known).set(nameOfCell(event), addPart(known, event)))
        return
      }
      // The browser would open an ended stream again.
      if (event.type === 'end') source.close()
      void queryClient.invalidateQueries({ queryKey: ['compare', 'run', runId] })
      void queryClient.invalidateQueries({ queryKey: ['compare', 'cells', runId] })
    })
    return () => source.close()
  }, [queryClient, runId, isRunning])
  return texts
}

export function nameOfCell({ prompt_index: prompt, repeat, lane_id: laneId }: CellName): string {
  return `${prompt} ${repeat} ${laneId}`
}

/** A part at 0 begins the answer anew. */
function addPart(
  known: ReadonlyMap<string, string>,
  part: Extract<RunEvent, { readonly type: 'text' }>,
): string {
  return (known.get(nameOfCell(part)) ?? '').slice(0, part.offset) + part.text
}
