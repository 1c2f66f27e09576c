import { styleText } from 'node:util'

type Style = Extract<Parameters<typeof styleText>[0], string>

/** Black and white are not among them: on a screen of that colour they hide text. */
const STYLES: ReadonlyMap<string, Style> = new Map([
  ['red', 'red'],
  ['green', 'green'],
  ['yellow', 'yellow'],
  ['blue', 'blue'],
  ['magenta', 'magenta'],
  ['cyan', 'cyan'],
  ['gray', 'gray'],
  ['bold', 'bold'],
  ['b', 'bold'],
  ['dim', 'dim'],
  ['underline', 'underline'],
  ['u', 'underline'],
])

/** Styles a text, with names such as `green` or `red+bold`, unless `NO_COLOR` is set. */
export function paint(names: string, text: string): string {
  const styles = names.split('+').map((name) => {
    const style = STYLES.get(name)
    if (style === undefined) throw new Error(`there is no colour "${name}"`)
    return style
  })
  return process.env.NO_COLOR ? text : styleText(styles, text, { validateStream: false })
}
