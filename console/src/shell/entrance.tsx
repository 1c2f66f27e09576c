import type { ReactNode } from 'react'

/** The frame of the pages before a session: what it is at one side, what to do at the other. */
export function Entrance({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid min-h-full grid-cols-[minmax(0,1fr)] lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
      <aside className="relative overflow-hidden bg-accent-soft max-lg:hidden" aria-hidden="true">
        <Road />
        <div className="relative flex flex-col gap-8 p-12">
          <div className="flex items-center gap-3 text-xl font-semibold tracking-tight">
            <img src="/favicon.svg" alt="" className="size-9" />
            Parkway
          </div>
          <p className="max-w-64 text-xl/8 font-medium tracking-tight xl:max-w-80">
            One way to every model, with your company’s keys, budgets and rules on it.
          </p>
        </div>
      </aside>
      <main className="flex items-center justify-center px-4 py-12 sm:px-8">
        <div className="w-full max-w-sm">
          <div className="mb-6 flex items-center gap-3">
            <img src="/favicon.svg" alt="" className="size-8 lg:hidden" />
            <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          </div>
          {children}
        </div>
      </main>
    </div>
  )
}

/** Lanes that come from many places and go one way. */
function Road() {
  return (
    <svg
      viewBox="0 0 600 900"
      preserveAspectRatio="xMidYMid slice"
      className="absolute inset-0 size-full fill-none stroke-accent"
      strokeLinecap="round"
    >
      {LANES.map((x, index) => (
        <path
          key={x}
          d={`M${x} 960 C ${x} 680, ${330 + (x - 300) * 0.4} 640, ${400 + (x - 300) * 0.16} 420 S ${500 + index * 9} 160, ${520 + index * 26} -60`}
          strokeWidth={index === 3 ? 3 : 1.5}
          opacity={index === 3 ? 0.55 : 0.22}
          strokeDasharray={index % 2 === 0 ? undefined : '10 14'}
        />
      ))}
    </svg>
  )
}

const LANES = [-120, 20, 140, 260, 380, 520, 680]
