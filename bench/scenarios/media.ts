import { formatCount, formatRatio } from '../format-figure.ts'
import { createParkway } from '../contestants/parkway.ts'
import type { Contestant } from '../contestants/contestant.ts'
import { makeLargeFile, measureDownload, startFileServer } from '../media/download.ts'
import { measureUploads, readRssMib, type UploadSample } from '../media/upload.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, ScenarioReport, Verdict } from './scenario.ts'

/** A key of an environment that uses the sandbox, so that no upstream has to accept files. */
const KEY = 'pk-dev-benchmark0benchmark0benchmark0benchmark0benchmark0'
const GROWTH_MIB_MAX = 64
const DOWNLOAD_RATIO_MIN = 0.7

/** Uploads and downloads: how much memory concurrent uploads use, and how fast a stored file is served. */
export const media: Scenario = {
  id: 'media',
  contestants: [createSandboxed('parkway-media')],
  run: async (session) => {
    const [gateway] = session.contestants.filter(({ id }) => id === 'parkway-media')
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const uploads = await runUploads(session, gateway)
    const downloads = await runDownloads(session, gateway)
    const report = summarise(gateway, uploads, downloads)
    // One charge per upload, and one for the file that is served. The other requests are free.
    const paid = uploads.reduce((total, { answers }) => total + answers, 0) + 1
    return { ...report, usageRowsBefore: new Map([[gateway.id, paid]]) }
  },
}

function createSandboxed(id: string): Contestant {
  const base = createParkway({ id, environment: { PARKWAY_BOOTSTRAP_KEY: KEY } })
  return {
    id,
    prepare: async (setting) => {
      const launch = await base.prepare(setting)
      return 'unavailable' in launch
        ? launch
        : { ...launch, requestHeaders: { authorization: `Bearer ${KEY}` } }
    },
  }
}

async function runUploads(
  { options, note }: BenchSession,
  gateway: RunningContestant,
): Promise<UploadSample[]> {
  const rssBeforeMib = readRssMib(gateway)
  const samples = [await measureUploads(gateway, 1, rssBeforeMib)]
  for (let round = 1; round <= Math.min(options.rounds, 5); round += 1) {
    const sample = await measureUploads(gateway, 20, rssBeforeMib)
    samples.push(sample)
    note(`media: uploads ${round}: ${formatCount(sample.growthMib)} MiB more at the peak`)
  }
  return samples
}

interface DownloadSample {
  readonly gatewayMibPerSecond: number
  readonly bareMibPerSecond: number
}

async function runDownloads(
  { options, note }: BenchSession,
  gateway: RunningContestant,
): Promise<DownloadSample[]> {
  const address = await makeLargeFile(gateway)
  const bare = await startFileServer(address)
  const samples: DownloadSample[] = []
  try {
    for (let round = 1; round <= Math.min(options.rounds, 5); round += 1) {
      const durationMs = options.secondsPerRound * 1000
      const bareMibPerSecond = await measureDownload(bare.url, durationMs)
      const gatewayMibPerSecond = await measureDownload(address, durationMs)
      samples.push({ gatewayMibPerSecond, bareMibPerSecond })
      note(`media: downloads ${round}: ${formatCount(gatewayMibPerSecond)} MiB/s`)
    }
  } finally {
    bare.close()
  }
  return samples
}

function summarise(
  { id }: RunningContestant,
  uploads: readonly UploadSample[],
  downloads: readonly DownloadSample[],
): ScenarioReport {
  const [, ...crowds] = uploads
  const growthMib = Math.max(...crowds.map((sample) => sample.growthMib))
  const rate = median(downloads.map(({ gatewayMibPerSecond }) => gatewayMibPerSecond))
  const ratio = median(downloads.map((sample) => sample.gatewayMibPerSecond / sample.bareMibPerSecond))
  const failures = crowds.reduce((total, sample) => total + sample.failures, 0)
  const row = (label: string, text: string): MetricRow => ({
    label: `media: ${label}`,
    cells: { [id]: text },
  })
  const verdicts: Verdict[] = [
    {
      target: `20 uploads of 25 MB at once: the gateway grows by less than ${GROWTH_MIB_MAX} MiB`,
      measured: `${formatCount(growthMib)} MiB at the most, ${formatCount(failures)} failed`,
      isMet: growthMib < GROWTH_MIB_MAX && failures === 0,
    },
    {
      target: `a kept file is served at ${DOWNLOAD_RATIO_MIN} × the rate of a bare file server or more`,
      measured: `${formatRatio(ratio)} (${formatCount(rate)} MiB/s)`,
      isMet: ratio >= DOWNLOAD_RATIO_MIN,
    },
  ]
  return {
    rows: [
      row('one upload of 25 MB, MiB more', formatCount(uploads[0]?.growthMib ?? Number.NaN)),
      row('20 uploads of 25 MB, MiB more', formatCount(growthMib)),
      row('… MiB/s', formatCount(median(crowds.map((sample) => sample.mibPerSecond)))),
      row('download, MiB/s', formatCount(rate)),
      row('… × a bare file server', formatRatio(ratio)),
    ],
    verdicts,
    samples: { uploads, downloads },
  }
}
