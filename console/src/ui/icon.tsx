import { classNames } from './class-names.ts'

/** Outlines on a grid of 16. */
const PATHS = {
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5',
  chat: 'M2.5 4.5a1 1 0 0 1 1-1h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H7l-3 2.5v-2.5h-.5a1 1 0 0 1-1-1z',
  task: 'M3 4h10M3 8h10M3 12h6',
  compare: 'M3 3h4v10H3zM9 3h4v10H9z',
  server: 'M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.01M5.5 11h.01',
  model: 'M8 2.5 13 5v6l-5 2.5L3 11V5zM3 5l5 2.5L13 5M8 7.5v6',
  usage: 'M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6.5',
  log: 'M3 3h10v10H3zM5.5 6h5M5.5 8.5h5M5.5 11h3',
  key: 'M10 9.5a3.5 3.5 0 1 0-3.3-2.3L2.5 11.4v2.1h2.6v-1.6h1.6l1.6-2.6M10.8 5.3h.01',
  passkey:
    'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5ZM2 13c0-2.2 1.8-3.5 4-3.5.9 0 1.7.2 2.4.6M12 9a1.75 1.75 0 1 0 0-3.5A1.75 1.75 0 0 0 12 9ZM12 9v4.500h1.500M12 11.500h1.200',
  card: 'M2.5 4.5a1 1 0 0 1 1-1h9a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1zM2.5 6.5h11',
  gauge: 'M3 12a5.5 5.5 0 1 1 10 0M8 9.5l2-3',
  people:
    'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5ZM2 13c0-2.2 1.8-3.5 4-3.5s4 1.3 4 3.5M10.5 3.2a2.25 2.25 0 0 1 0 4.1M11.5 9.7c1.5.4 2.5 1.6 2.5 3.3',
  folder: 'M2.5 4a1 1 0 0 1 1-1h3l1.5 2h4.5a1 1 0 0 1 1 1v5.5a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z',
  shield: 'M8 2 3 4v4c0 3 2.2 5 5 6 2.8-1 5-3 5-6V4z',
  plug: 'M6 2.5v3M10 2.5v3M4 5.5h8v2a4 4 0 0 1-8 0zM8 11.5v2',
  tag: 'M2.5 8.5v-6h6l5 5-6 6zM5.5 5.5h.01',
  book: 'M3 3.5c2-.8 3.7-.6 5 .5 1.3-1.1 3-1.3 5-.5v9c-2-.8-3.7-.6-5 .5-1.3-1.1-3-1.3-5-.5zM8 4v9',
  settings:
    'M3 5h6M12 5h1M3 11h1M7 11h6M10.5 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM5.5 12.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  down: 'm4 6 4 4 4-4',
  right: 'm6 4 4 4-4 4',
  left: 'm10 4-4 4 4 4',
  up: 'm4 10 4-4 4 4',
  plus: 'M8 3v10M3 8h10',
  stop: 'M4.5 4.5h7v7h-7z',
  play: 'M5 3.5v9l7.5-4.5z',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  retry: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5v2.5h-2.5',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M6.75 7v4M9.25 7v4',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
  image: 'M2.5 3.5h11v9h-11zM2.5 11l3.5-3.5 3 3 1.5-1.5 3 3M10.5 6.250h.01',
  code: 'm5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5l3.5 3.5-3.5 3.5',
  warn: 'M8 2.5 14 13H2zM8 6.5v3M8 11.250h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.5v3.5M8 5.250h.01',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z',
  screen: 'M2.5 3.5h11v7.5h-11zM6 13.5h4M8 11v2.5',
  out: 'M6.5 13.5h-3a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1h3M10 11l3-3-3-3M13 8H6',
  bolt: 'M9 2 3.5 9H8l-1 5 5.5-7H8z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5',
  pencil: 'm3 13 .6-2.9L10.5 3.2l2.3 2.3-6.9 6.9zM9 4.7 11.3 7',
  microphone: 'M8 9.5a2 2 0 0 0 2-2V4a2 2 0 1 0-4 0v3.5a2 2 0 0 0 2 2ZM3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2',
  external: 'M9.5 2.5h4v4M13.5 2.5l-6 6M11.5 9v4.5h-9v-9H7',
} as const

export type IconName = keyof typeof PATHS

/** A decorative picture. Whatever it means must also be said in words. */
export function Icon({
  name,
  className,
}: {
  readonly name: IconName
  readonly className?: string | undefined
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={classNames('size-4 shrink-0 fill-none stroke-current', className)}
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
