import type { Filter, FilterStart } from '../filter/filter-messages.ts'
import { readTemplate } from './read-template.ts'
import { renderTemplate } from './render-template.ts'
import { templateFunctions } from './template-functions.ts'
import { TemplateTable } from './template-table.ts'

/** Reads a template. Throws if it is none. */
export function loadTemplate({
  text,
  isForPerson,
  columns,
}: Pick<FilterStart, 'text' | 'isForPerson' | 'columns'>): Filter {
  const nodes = readTemplate(text)
  return (json) => {
    const table = new TemplateTable(columns)
    const functions = templateFunctions({ isForPerson, table, nowMs: Date.now() })
    const rendered = renderTemplate(nodes, JSON.parse(json), functions) + table.render()
    // The next value, and the prompt of a shell, begin a line.
    return { text: rendered === '' || rendered.endsWith('\n') ? rendered : `${rendered}\n`, failure: null }
  }
}
