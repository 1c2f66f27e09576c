/** Parts of a layout as in Go: how it writes the moment `Mon Jan 2 15:04:05 2006`. Longer ones first, so that they win. */
const PARTS =
  /January|Jan|Monday|Mon|MST|2006|Z07:00|Z0700|-07:00|-0700|-07|002|0[1-6]|15|_2|PM|pm|[.,](?:0{1,9}|9{1,9})(?!\d)|[1-5]/g

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const DAY_MS = 86_400_000

/** Writes a time in UTC by a layout of Go, such as `2006-01-02 15:04`. Throws for what is no time. */
export function formatLayout(layout: string, timestamp: string): string {
  const atMs = Date.parse(timestamp)
  if (Number.isNaN(atMs)) throw new Error(`${timestamp.slice(0, 40)} is no time`)
  const at = new Date(atMs)
  return layout.replaceAll(PARTS, (part) => writePart(part, at))
}

function writePart(part: string, at: Date): string {
  const written = WRITERS[part]
  return written === undefined ? writeFraction(part, at.getUTCMilliseconds()) : written(at)
}

const two = (value: number): string => String(value).padStart(2, '0')
const hour12 = (at: Date): number => at.getUTCHours() % 12 || 12

const WRITERS: Readonly<Record<string, (at: Date) => string>> = {
  January: (at) => MONTHS[at.getUTCMonth()] ?? '',
  Jan: (at) => (MONTHS[at.getUTCMonth()] ?? '').slice(0, 3),
  Monday: (at) => DAYS[at.getUTCDay()] ?? '',
  Mon: (at) => (DAYS[at.getUTCDay()] ?? '').slice(0, 3),
  MST: () => 'UTC',
  '2006': (at) => String(at.getUTCFullYear()).padStart(4, '0'),
  'Z07:00': () => 'Z',
  Z0700: () => 'Z',
  '-07:00': () => '+00:00',
  '-0700': () => '+0000',
  '-07': () => '+00',
  '002': (at) => String(dayOfYear(at)).padStart(3, '0'),
  '01': (at) => two(at.getUTCMonth() + 1),
  '02': (at) => two(at.getUTCDate()),
  '03': (at) => two(hour12(at)),
  '04': (at) => two(at.getUTCMinutes()),
  '05': (at) => two(at.getUTCSeconds()),
  '06': (at) => two(at.getUTCFullYear() % 100),
  '15': (at) => two(at.getUTCHours()),
  _2: (at) => String(at.getUTCDate()).padStart(2, ' '),
  PM: (at) => (at.getUTCHours() < 12 ? 'AM' : 'PM'),
  pm: (at) => (at.getUTCHours() < 12 ? 'am' : 'pm'),
  '1': (at) => String(at.getUTCMonth() + 1),
  '2': (at) => String(at.getUTCDate()),
  '3': (at) => String(hour12(at)),
  '4': (at) => String(at.getUTCMinutes()),
  '5': (at) => String(at.getUTCSeconds()),
}

function dayOfYear(at: Date): number {
  return Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0)) / DAY_MS) + 1
}

/** Nines leave out zeros at the end, and the separator where nothing is left. */
function writeFraction(part: string, milliseconds: number): string {
  const [separator = '', ...places] = part
  const digits = String(milliseconds).padStart(3, '0').padEnd(9, '0').slice(0, places.length)
  if (places[0] === '0') return `${separator}${digits}`
  const left = digits.replace(/0+$/, '')
  return left === '' ? '' : `${separator}${left}`
}
