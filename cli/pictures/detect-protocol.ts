export type PictureProtocol = 'kitty' | 'iterm' | 'sixel'

const SIXEL_TERMINALS = /sixel|^(?:foot|mlterm|contour|yaft)/

/** Finds out how the terminal shows pictures. `PARKWAY_PICTURES` decides where its variables do not tell. Null: not at all. */
export function detectProtocol(environment: NodeJS.ProcessEnv): PictureProtocol | null {
  const { PARKWAY_PICTURES: told, TERM: term = '', TERM_PROGRAM: program = '' } = environment
  if (told === 'kitty' || told === 'iterm' || told === 'sixel') return told
  // A multiplexer passes no pictures on, but keeps the variables of the terminal that it was started in.
  if (told === 'none' || environment.TMUX || /^(?:screen|tmux)/.test(term)) return null
  if (environment.KITTY_WINDOW_ID || term === 'xterm-kitty' || /^ghostty$/i.test(program)) return 'kitty'
  if (/^(?:iTerm\.app|WezTerm|mintty)$/.test(program) || environment.LC_TERMINAL === 'iTerm2') return 'iterm'
  return SIXEL_TERMINALS.test(term) ? 'sixel' : null
}
