/** The input forms of DESIGN section 5. `parsed` is a table read from text or bytes, `file` one on disk. */
export type TableForm = 'row' | 'rows' | 'columns' | 'matrix' | 'arrow' | 'parsed' | 'file';

/** A table that can be read more than once. What it holds is reached through the functions of this folder. */
export interface TableSource {
  readonly form: TableForm;
  /** Number of rows, where it is known without reading the table. */
  readonly rowCount?: number;
}
