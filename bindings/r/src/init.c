/* R looks for R_init_fedirtr; the compiled part registers its functions. */
void R_init_fedirtr_extendr(void *info);

void R_init_fedirtr(void *info) {
  R_init_fedirtr_extendr(info);
}
