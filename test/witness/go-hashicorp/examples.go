package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2/hclparse"
)

// examples parses the examples of Terraform, as Terraform does before all else.
func (w *witness) examples() {
	files, err := filepath.Glob(filepath.Join(w.Examples, "*", "*.tf"))
	must(err)
	step(fmt.Sprintf("the %d examples of Terraform are HCL", len(files)), func() error {
		if len(files) < 2 {
			return fmt.Errorf("there are no examples in %s", w.Examples)
		}
		var all []error
		for _, file := range files {
			if _, problems := hclparse.NewParser().ParseHCLFile(file); problems.HasErrors() {
				all = append(all, problems)
			}
		}
		return errors.Join(all...)
	})
}
