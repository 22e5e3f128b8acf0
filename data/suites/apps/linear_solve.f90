! Solves a dense system of equations by factorisation with partial pivoting, column by column: linear_solve SIZE TIMES.
program linear_solve
  implicit none
  integer, parameter :: real_kind = kind(1.0d0)
  integer :: n, times, t, i, j
  character(len=20) :: word
  real(real_kind), allocatable :: a(:, :), original(:, :), b(:), x(:)
  integer, allocatable :: pivot(:)
  integer(8) :: state
  real(real_kind) :: worst

  if (command_argument_count() /= 2) stop 2
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) times
  allocate (a(n, n), original(n, n), b(n), x(n), pivot(n))
  state = 1325
  do j = 1, n
    do i = 1, n
      state = mod(3125 * state, 65536_8)
      original(i, j) = (real(state, real_kind) - 32768) / 16384
    end do
  end do
  b = sum(original, dim=2)  ! the solution is all ones
  do t = 1, times
    a = original
    x = b
    call factorise(a, pivot, n)
    call substitute(a, pivot, x, n)
  end do
  worst = maxval(abs(x - 1))
  print '(a, es9.2)', 'largest error ', worst
  if (worst > 1d-6) stop 1

contains

  subroutine factorise(a, pivot, n)
    integer, intent(in) :: n
    real(real_kind), intent(inout) :: a(n, n)
    integer, intent(out) :: pivot(n)
    integer :: k, j, l
    real(real_kind) :: held
    do k = 1, n - 1
      l = k - 1 + maxloc(abs(a(k:n, k)), dim=1)
      pivot(k) = l
      held = a(l, k)
      a(l, k) = a(k, k)
      a(k, k) = held
      a(k + 1:n, k) = -a(k + 1:n, k) / held
      do j = k + 1, n
        held = a(l, j)
        a(l, j) = a(k, j)
        a(k, j) = held
        a(k + 1:n, j) = a(k + 1:n, j) + held * a(k + 1:n, k)
      end do
    end do
    pivot(n) = n
  end subroutine factorise

  subroutine substitute(a, pivot, x, n)
    integer, intent(in) :: n
    real(real_kind), intent(in) :: a(n, n)
    integer, intent(in) :: pivot(n)
    real(real_kind), intent(inout) :: x(n)
    integer :: k, l
    real(real_kind) :: held
    do k = 1, n - 1
      l = pivot(k)
      held = x(l)
      x(l) = x(k)
      x(k) = held
      x(k + 1:n) = x(k + 1:n) + held * a(k + 1:n, k)
    end do
    do k = n, 1, -1
      x(k) = x(k) / a(k, k)
      x(1:k - 1) = x(1:k - 1) - x(k) * a(1:k - 1, k)
    end do
  end subroutine substitute
end program linear_solve
