package inbox

import "database/sql"

// each scans every row and closes rows. err is that of the query.
func each(rows *sql.Rows, err error, scan func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// collect scans every row into a value.
func collect[T any](rows *sql.Rows, scan func(*sql.Rows) (T, error)) (all []T, err error) {
	err = each(rows, nil, func(rows *sql.Rows) error {
		v, err := scan(rows)
		all = append(all, v)
		return err
	})
	return all, err
}
