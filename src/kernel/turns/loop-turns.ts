const waiting: (() => void)[] = []
let isScheduled = false

/**
 * Waits for a turn on the event loop. Long computations that call this between their steps share the process fairly: however many
 * there are, only one of them takes a step between two looks at the sockets.
 */
export function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (isScheduled) return
    isScheduled = true
    setImmediate(giveTurn)
  })
}

function giveTurn(): void {
  waiting.shift()?.()
  isScheduled = waiting.length > 0
  // What is set now runs after the sockets were looked at.
  if (isScheduled) setImmediate(giveTurn)
}
