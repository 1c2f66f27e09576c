import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { findBrowser } from '../../tests/console/find-browser.ts'
import { measureScrolling, type ScrollSample } from '../console/measure-scrolling.ts'
import { HOURS_OF_YEAR, seedLists, seedYearOfHours } from '../console/seeded-lists.ts'
import { traceTasks } from '../console/trace-tasks.ts'
import { parkway } from '../contestants/parkway.ts'
import { formatCount } from '../format-figure.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, percentile, sum } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

const BUILT = join(import.meta.dirname, '../../console/dist/index.html')
const LONG_TASK_MS = 50
const CHART_MS_MAX = 50
const CHART_MODELS = 8

/** The console in a real browser: long lists that scroll, and the largest chart. */
export const browserConsole: Scenario = {
  id: 'console',
  contestants: [parkway],
  run: async (session) => {
    const [gateway] = session.contestants
    const found = await findBrowser()
    if (gateway === undefined || found === null || !existsSync(BUILT)) {
      session.note('the console is left out: it needs a gateway, a Chromium, and "npm run build:console"')
      return { rows: [], verdicts: [], samples: {} }
    }
    const browser = await chromium.launch({
      executablePath: found.executablePath,
      env: { ...found.environment },
      args: ['--no-sandbox', '--headless=shell', '--disable-gpu', '--no-zygote'],
    })
    try {
      return await measureConsole(session, gateway, browser)
    } finally {
      await browser.close()
    }
  },
}

async function measureConsole({ options, note }: BenchSession, gateway: RunningContestant, browser: Browser) {
  const requests = options.isQuick ? 10_000 : 100_000
  const tasks = options.isQuick ? 1_000 : 10_000
  const page = await openPage(browser, gateway)
  await seedLists(page, { requests, tasks })
  const lists: { name: string; sample: ScrollSample }[] = []
  for (const { name, path, ...list } of [
    {
      name: `the log with ${formatCount(requests)} requests`,
      path: '/log',
      scroller: '[aria-label="Requests"]',
      rows: requests,
      countRows: ROW_COUNT,
    },
    {
      name: `${formatCount(tasks)} tasks as a list`,
      path: '/tasks?view=list',
      scroller: '[aria-label="Tasks"]',
      rows: tasks,
      countRows: ROW_COUNT,
    },
    {
      name: `${formatCount(tasks)} tasks as a gallery`,
      path: '/tasks',
      scroller: '#page',
      rows: tasks,
      // Cards stand beside each other, so the height of the gallery tells how many there are.
      countRows: `Math.round(document.querySelector('[aria-label="Tasks"]').clientHeight / 276) * ${CARDS_IN_A_ROW}`,
    },
  ]) {
    await page.goto(path)
    const sample = await measureScrolling(page, list)
    note(`console: ${name}: ${sample.rows} rows, ${sample.elements} elements`)
    lists.push({ name, sample })
  }
  const charts = await measureCharts(page, options.isQuick ? 3 : 10)
  const reports = [...lists.map(({ name, sample }) => reportList(name, sample)), reportCharts(charts)]
  return {
    rows: reports.flatMap(({ rows }) => rows),
    verdicts: reports.map(({ verdict }) => verdict),
    samples: { lists, charts },
  }
}

const ROW_COUNT = `Number(document.querySelector('table')?.getAttribute('aria-rowcount') ?? 0)`
/** At the width of the page below. */
const CARDS_IN_A_ROW = 4

async function openPage(browser: Browser, { port, requestHeaders }: RunningContestant): Promise<Page> {
  const context = await browser.newContext({
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
  })
  const apiKey = requestHeaders['authorization']?.replace('Bearer ', '') ?? ''
  const answer = await context.request.post('/v1/sessions', { data: { api_key: apiKey } })
  if (!answer.ok()) throw new Error(`no session was made: ${answer.status()}`)
  return context.newPage()
}

interface ChartSample {
  readonly drawnMs: number
  /** CPU time of the whole task in which it was drawn. */
  readonly cpuMs: number
}

/** Draws a year of hours several times. The page measures each of them. */
async function measureCharts(page: Page, rounds: number): Promise<ChartSample[]> {
  await seedYearOfHours(page, CHART_MODELS)
  const samples: ChartSample[] = []
  for (let round = 0; round < rounds; round += 1) {
    const trace = await traceTasks(page, { measureName: CHART_MEASURE })
    await page.goto('/usage?period=12mo')
    const drawnMs = await page.evaluate<number>(READ_CHART_MS)
    const { measuredCpuMs } = await trace.end()
    samples.push({ drawnMs, cpuMs: measuredCpuMs ?? Number.NaN })
  }
  return samples
}

/** As the console names it. */
const CHART_MEASURE = 'chart drawn'

const READ_CHART_MS = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    const [chart] = list.getEntriesByName('${CHART_MEASURE}')
    if (chart !== undefined) resolve(chart.duration)
  }).observe({ type: 'measure', buffered: true })
})`

interface Report {
  readonly rows: readonly MetricRow[]
  readonly verdict: Verdict
}

const row = (label: string, cell: string): MetricRow => ({ label, cells: { parkway: cell } })
const milliseconds = (value: number): string => `${value.toFixed(0)} ms`

function reportList(name: string, { framesMs, tasksCpuMs, elements, ...tasks }: ScrollSample): Report {
  const longest = Math.max(0, ...tasks.scrollingLongTasksMs)
  const longestCpu = tasksCpuMs.reduce((most, ms) => Math.max(most, ms), 0)
  return {
    rows: [
      row(`${name}: long tasks while scrolling`, formatCount(tasks.scrollingLongTasksMs.length)),
      row('… the longest', longest === 0 ? 'none' : milliseconds(longest)),
      row('… CPU of the longest task', milliseconds(longestCpu)),
      row('… CPU for each frame', `${(sum(tasksCpuMs) / framesMs.length).toFixed(1)} ms`),
      row('… a frame, median', milliseconds(median(framesMs))),
      row('… a frame, 99th percentile', milliseconds(percentile(framesMs, 0.99))),
      row(
        '… long tasks while all of it is loaded',
        `${tasks.loadingLongTasksMs.length}, ${milliseconds(Math.max(0, ...tasks.loadingLongTasksMs))} at most`,
      ),
      row('… elements in the page', formatCount(elements)),
    ],
    verdict: {
      target: `${name} scrolls without a task of ${LONG_TASK_MS} ms of CPU`,
      measured: milliseconds(longestCpu),
      isMet: longestCpu < LONG_TASK_MS,
    },
  }
}

function reportCharts(samples: readonly ChartSample[]): Report {
  const name = `a chart of ${formatCount(HOURS_OF_YEAR)} hours of ${CHART_MODELS} models`
  const cpuMs = median(samples.map((sample) => sample.cpuMs))
  return {
    rows: [
      row(`${name}: CPU of the task that draws it`, milliseconds(cpuMs)),
      row('… drawn after, median', milliseconds(median(samples.map(({ drawnMs }) => drawnMs)))),
      row('… the slowest', milliseconds(Math.max(...samples.map(({ drawnMs }) => drawnMs)))),
    ],
    verdict: {
      target: `${name} is drawn with ${CHART_MS_MAX} ms of CPU`,
      measured: milliseconds(cpuMs),
      isMet: cpuMs < CHART_MS_MAX,
    },
  }
}
