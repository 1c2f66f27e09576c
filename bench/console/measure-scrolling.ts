import type { Page } from 'playwright-core'
import { traceTasks } from './trace-tasks.ts'

export interface ScrollSample {
  /** Rows, or cards, that the list had at the end. */
  readonly rows: number
  /** Tasks of more than 50 ms on the main thread while rows were loaded, and while the whole list was scrolled. */
  readonly loadingLongTasksMs: readonly number[]
  readonly scrollingLongTasksMs: readonly number[]
  readonly framesMs: readonly number[]
  /** CPU time of each task while scrolling. */
  readonly tasksCpuMs: readonly number[]
  /** Elements in the page when the list was complete. */
  readonly elements: number
}

interface ScrolledList {
  /** Selects the element that scrolls. */
  readonly scroller: string
  readonly rows: number
  /** An expression for the number of rows that are loaded. */
  readonly countRows: string
}

const LOADING_MS_MAX = 300_000

/** Loads a list by scrolling to its end again and again, then scrolls through all of it. */
export async function measureScrolling(page: Page, list: ScrolledList): Promise<ScrollSample> {
  const { scroller, rows, countRows } = list
  const place = `document.querySelector(${JSON.stringify(scroller)})`
  await page.waitForSelector(scroller)
  await page.evaluate(WATCH_LONG_TASKS)
  const loaded = await page.evaluate<number>(`(async () => {
    const place = ${place}
    const endsAtMs = performance.now() + ${LOADING_MS_MAX}
    while ((${countRows}) < ${rows} && performance.now() < endsAtMs) {
      place.scrollTop = place.scrollHeight
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return ${countRows}
  })()`)
  const loadingLongTasksMs = await page.evaluate<number[]>(TAKE_LONG_TASKS)
  const trace = await traceTasks(page)
  const framesMs = await page.evaluate<number[]>(`(async () => {
    const place = ${place}
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const framesMs = []
    place.scrollTop = 0
    let before = await nextFrame()
    const scrollTo = async (top) => {
      place.scrollTop = top
      const now = await nextFrame()
      framesMs.push(now - before)
      before = now
    }
    // As with a wheel, then as with the bar at the side.
    for (let step = 1; step <= 200; step += 1) await scrollTo(step * 240)
    for (let step = 1; step <= 200; step += 1) await scrollTo((place.scrollHeight * step) / 200)
    return framesMs
  })()`)
  return {
    rows: loaded,
    loadingLongTasksMs,
    scrollingLongTasksMs: await page.evaluate<number[]>(TAKE_LONG_TASKS),
    framesMs,
    tasksCpuMs: (await trace.end()).tasksCpuMs,
    elements: await page.evaluate<number>('document.querySelectorAll("*").length'),
  }
}

const WATCH_LONG_TASKS = `(() => {
  window.longTasksMs = []
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasksMs.push(duration)
  }).observe({ type: 'longtask' })
})()`

// Entries are handed over in a task of their own.
const TAKE_LONG_TASKS = `new Promise((resolve) => setTimeout(() => resolve(window.longTasksMs.splice(0)), 100))`
